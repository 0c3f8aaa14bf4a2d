#include "runtime/system/throttle.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace quarkstar::runtime {
namespace {

void require(bool good, const std::string& what, const char* remedy) {
  if (!good) throw Error(ErrorKind::input, Parameter("throttle"), what, remedy);
}

}  // namespace

Throttler::Throttler(const std::vector<Throttle>& throttles, int first_cpu, int workers) {
  if (throttles.empty()) return;
  lanes_.resize(static_cast<std::size_t>(workers));
  for (const Throttle& throttle : throttles) {
    constexpr double most_factor = 1000, most_hiccup_us = 1e7, most_from_s = 1e6;
    require(throttle.worker >= 0 && throttle.worker < workers, fmt::format("worker {} is none of this session", throttle.worker),
            "`quarkstar machine` lists them");
    require(throttle.worker >= first_cpu || std::isinf(throttle.factor), fmt::format("worker {} is a GPU", throttle.worker),
            "CPU workers come after the GPUs, which can be made to fail, not to be slow");
    require(throttle.factor >= 1 && (throttle.factor <= most_factor || std::isinf(throttle.factor)),
            fmt::format("a factor of {:g}", throttle.factor), "give 1 to 1000");
    require(throttle.chance >= 0 && throttle.chance <= 1, fmt::format("a chance of {:g}", throttle.chance), "give 0 to 1");
    require(throttle.hiccup_us >= 0 && throttle.hiccup_us <= most_hiccup_us, fmt::format("a hiccup of {:g} ms", throttle.hiccup_us / 1e3),
            "give at most 10000");
    require(throttle.from_s >= 0 && throttle.from_s <= most_from_s, fmt::format("a start after {:g} s", throttle.from_s),
            "give 0 to 1000000 seconds of the session");
    Lane& lane = lanes_[static_cast<std::size_t>(throttle.worker)];
    lane.throttle = throttle;
    lane.random.seed(throttle.seed);
  }
}

double Throttler::delay_us(int worker, double begun_s, double took_us) {
  if (lanes_.empty()) return 0;
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  double delay = (lane.throttle.factor - 1) * took_us;
  if (lane.throttle.chance > 0) {
    const double uniform = static_cast<double>(lane.random() >> 11) * 0x1p-53;
    if (uniform < lane.throttle.chance) delay += lane.throttle.hiccup_us;
  }
  return begun_s < lane.throttle.from_s ? 0 : delay;
}

bool Throttler::fails(int worker) const {
  if (lanes_.empty()) return false;
  const Throttle& throttle = lanes_[static_cast<std::size_t>(worker)].throttle;
  return std::isinf(throttle.factor) && std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= throttle.from_s;
}

double Throttler::stretch(int worker, double begin_us) {
  const double now = starpu_timing_now(), took_us = now - begin_us;
  const double ended_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double delay = delay_us(worker, ended_s - 1e-6 * took_us, took_us);
  if (!(delay > 0)) return now;
  if (std::isinf(delay)) throw Error(ErrorKind::environment, Parameter("throttle"), fmt::format("worker {} was to fail", worker), "");
  // The kernel wakes a sleeper late, by some 50 us: the last part is spent on the core.
  constexpr double imprecision_us = 200;
  if (delay > 2 * imprecision_us) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(delay - imprecision_us));
  double end = starpu_timing_now();
  while (end < now + delay) end = starpu_timing_now();
  return end;
}

}  // namespace quarkstar::runtime
