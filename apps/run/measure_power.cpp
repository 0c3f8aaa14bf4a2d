#include "apps/run/measure_power.hpp"

#include "apps/run/report.hpp"
#include "codelets/bench/stream.hpp"
#include "codelets/bench/stream_cuda.hpp"
#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace quarkstar::app {
namespace {

/// Watts over an interval; 0 where the counter tells nothing.
struct Watts {
  double cpu = 0, gpu = 0;
};

Watts watts_during(const PowerProbe& probe, const std::function<double()>& activity) {
  const runtime::Energy before = probe.read();
  const double seconds = activity();
  const runtime::Energy spent = probe.read() - before;
  const auto watts = [seconds](const runtime::EnergyReading& reading) { return reading.available() ? reading.joules / seconds : 0; };
  return {watts(spent.cpu), watts(spent.gpu)};
}

/// Repeats a pass until half a second has gone.
double repeat(const std::function<void()>& pass) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double seconds = 0;
  do {
    pass();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < 0.5);
  return seconds;
}

constexpr std::size_t array_bytes = 256 << 20;    // beyond caches
constexpr int cpu_passes = 10, gpu_passes = 300;  // that allocating the arrays weighs little

}  // namespace

runtime::MachinePower measure_power(const runtime::MachinePower& known, const PowerProbe& probe) {
  runtime::MachinePower power = known;
  if (!probe.read().total().available()) return power;
  const Watts idle = watts_during(probe, probe.rest);
  const double cpu_busy = idle.cpu > 0 ? watts_during(probe, probe.load_cpus).cpu : 0;
  const double gpu_busy = idle.gpu > 0 && probe.gpus > 0 ? watts_during(probe, probe.load_gpus).gpu : 0;
  if (cpu_busy > 0) {
    power.cpu = {idle.cpu, std::max(idle.cpu, cpu_busy)};
    power.host = 0;
  }
  if (gpu_busy > 0) {
    // One GPU works at a time: what all draw is that of one busy and the others idle.
    const double one_idle = idle.gpu / probe.gpus;
    power.cuda = {one_idle, std::max(one_idle, gpu_busy - idle.gpu + one_idle)};
  }
  const bool all = (cpu_busy > 0) && (gpu_busy > 0 || probe.gpus == 0);
  if (all) power.origin = "measured";
  else if (cpu_busy > 0) power.origin = "CPU measured";
  else if (gpu_busy > 0) power.origin = "GPU measured";
  return power;
}

void provide_power(runtime::Session& session) {
  if (session.options().policy != "energy" || session.options().power.origin != "assumed" || runtime::mpi::Job::current().is_distributed())
    return;
  std::vector<int> cores, gpus;
  for (const runtime::Worker& worker : session.workers()) {
    if (worker.kind == runtime::Worker::Kind::cuda) gpus.push_back(worker.device);
    else cores.insert(cores.end(), worker.team.cores().begin(), worker.team.cores().end());
  }
  const runtime::Team all(cores);
  runtime::EnergyMeter meter(gpu_bus_ids(session));
  const PowerProbe probe{.read = [&] { return meter.read(); },
                         .rest = [] { return repeat([] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }); },
                         .load_cpus = [&] { return repeat([&] { bench::measure_stream(all, array_bytes, cpu_passes); }); },
                         .load_gpus =
                             [&] {
                               return repeat([&] {
                                 for (const int device : gpus) bench::measure_triad_on_gpu(device, array_bytes, gpu_passes);
                               });
                             },
                         .gpus = static_cast<int>(gpus.size())};
  session.set_power(measure_power(session.options().power, probe));
}

}  // namespace quarkstar::app
