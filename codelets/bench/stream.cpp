#include "codelets/bench/stream.hpp"

#include "codelets/arch/table.hpp"
#include "codelets/bench/stream_cuda.hpp"
#include "codelets/bench/stream_kernels.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/on_workers.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/large_pages.hpp"
#include "runtime/system/memory.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

namespace quarkstar::bench {
namespace {

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};

std::unique_ptr<double[], Free> allocate(std::size_t bytes) {
  void* memory = runtime::allocate_pages(bytes);
  if (memory == nullptr) throw Error(ErrorKind::environment, "bench stream", "not enough memory for the arrays", "give smaller arrays");
  return std::unique_ptr<double[], Free>(static_cast<double*>(memory));
}

StreamKernels kernels_in_use() {
  static constexpr arch::KernelTable<StreamKernels (*)()> table = QUARKSTAR_KERNEL_TABLE(stream_kernels);
  return table.current()();
}

/// Passes that several teams make at the same time.
class Passes {
 public:
  explicit Passes(std::size_t teams) : barrier_(static_cast<std::ptrdiff_t>(teams)), seconds_(teams) {}

  /// Each team calls, with its own part. Returns to all how long the slowest took.
  template <class Part>
  double seconds(std::size_t team, Part&& part) {
    barrier_.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    part();
    seconds_[team] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    barrier_.arrive_and_wait();
    // Nobody writes before all have come to the next pass.
    return *std::max_element(seconds_.begin(), seconds_.end());
  }

 private:
  std::barrier<> barrier_;
  std::vector<double> seconds_;
};

constexpr std::int64_t group = 512;  ///< threads' shares stay whole cache lines

/// A team's three arrays, and what it does with them. Written first by the threads that use them.
class Arrays {
 public:
  explicit Arrays(std::size_t bytes)
      : groups_(static_cast<std::int64_t>(bytes / sizeof(double)) / group), a_(allocate(bytes)), b_(allocate(bytes)), c_(allocate(bytes)) {}

  /// GB/s of all teams, whose arrays are alike.
  StreamResult measure(const runtime::Team& team, std::size_t index, std::size_t teams, int repetitions, Passes& passes) {
    double *a = a_.get(), *b = b_.get(), *c = c_.get();
    team.for_range(groups_, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin * group; i < end * group; ++i) a[i] = 0, b[i] = 1 + 1e-9 * static_cast<double>(i), c[i] = 2;
    });
    const StreamKernels kernels = kernels_in_use();
    const double size = static_cast<double>(groups_ * group) * sizeof(double) * static_cast<double>(teams);
    const auto best_of = [&](double bytes_moved, auto&& pass) {
      double best = 0;
      for (int r = 0; r < repetitions; ++r) {
        const double seconds = passes.seconds(index, [&] {
          team.for_range(groups_, [&](std::int64_t begin, std::int64_t end, int thread) { pass(begin * group, end * group, thread); });
        });
        best = std::max(best, bytes_moved / seconds * 1e-9);
      }
      return best;
    };
    struct alignas(64) Sink {
      double value;
    };
    std::vector<Sink> sinks(static_cast<std::size_t>(team.threads()));
    StreamResult result;
    result.triad = best_of(3 * size, [&](auto begin, auto end, int) { kernels.triad(a, b, c, 3.0, begin, end); });
    result.triad_streaming = best_of(3 * size, [&](auto begin, auto end, int) { kernels.triad_streaming(a, b, c, 3.0, begin, end); });
    result.copy_streaming = best_of(2 * size, [&](auto begin, auto end, int) { kernels.copy_streaming(a, b, begin, end); });
    // All three, as the triad: one alone may stay in a cache that they do not fit into together.
    result.read = best_of(3 * size, [&](auto begin, auto end, int thread) {
      double sum = 0;
      for (const double* array : {a, b, c}) sum += kernels.read(array, begin, end);
      sinks[static_cast<std::size_t>(thread)].value = sum;
    });
    return result;
  }

 private:
  std::int64_t groups_;
  std::unique_ptr<double[], Free> a_, b_, c_;
};

std::size_t whole_pages(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + runtime::huge_page - 1) / runtime::huge_page) * runtime::huge_page;
}

/// So many bytes per array, or what leaves the host half of its memory where so many teams have three arrays each.
std::size_t bytes_that_fit(std::size_t bytes_per_array, std::size_t teams) {
  const auto available = runtime::available_host_memory();
  return available ? std::min(bytes_per_array, *available / (2 * 3 * teams)) : bytes_per_array;
}

}  // namespace

StreamResult measure_stream(const std::vector<int>& workers, std::size_t bytes_per_array, int repetitions) {
  if (const auto triad = runtime::backend::known_triad_gbs(workers)) return {*triad, *triad, *triad, *triad};
  const std::size_t bytes = whole_pages(bytes_that_fit(bytes_per_array, workers.size()));
  std::vector<Arrays> arrays;
  for (std::size_t i = 0; i < workers.size(); ++i) arrays.emplace_back(bytes);
  Passes passes(workers.size());
  StreamResult result;
  runtime::on_workers(workers, [&](std::size_t i, const runtime::Worker& worker) {
    const StreamResult of_all = arrays[i].measure(worker.team, i, workers.size(), repetitions, passes);
    if (i == 0) result = of_all;
  });
  return result;
}

StreamResult measure_stream(const runtime::Team& team, std::size_t bytes_per_array, int repetitions) {
  Passes alone(1);
  return Arrays(whole_pages(bytes_per_array)).measure(team, 0, 1, repetitions, alone);
}

FusedPeak measure_fused_peak(const std::vector<int>& workers, int repetitions) {
  if constexpr (!runtime::backend::computes) return {};
  const StreamKernels kernels = kernels_in_use();
  // Some milliseconds a pass: waking a team and the frequency of wide registers take tenths of one.
  constexpr std::int64_t steps = 1000000;
  constexpr int least_passes = 5;
  int threads = 0;
  for (const int id : workers) threads += runtime::Session::current().worker(id).team.threads();
  Passes passes(workers.size());
  FusedPeak result;
  runtime::on_workers(workers, [&](std::size_t i, const runtime::Worker& worker) {
    std::vector<double> sinks(static_cast<std::size_t>(worker.team.threads()));
    const auto best_of = [&](double (*chains)(std::int64_t), int lanes) {
      double best = 0;
      for (int r = 0; r < std::max(repetitions, least_passes); ++r) {
        const double seconds = passes.seconds(i, [&] {
          worker.team.for_range(worker.team.threads(), [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t t = begin; t < end; ++t) sinks[static_cast<std::size_t>(t)] = chains(steps);
          });
        });
        best = std::max(best, 2.0 * static_cast<double>(steps) * fused_chains * lanes * threads / seconds * 1e-9);
      }
      return best;
    };
    const FusedPeak of_all{best_of(kernels.fused_single, kernels.lanes_single), best_of(kernels.fused_double, kernels.lanes_double)};
    if (i == 0) result = of_all;
  });
  return result;
}

#ifndef QUARKSTAR_CUDA
double measure_triad_on_gpu(int device, std::size_t, int) { return runtime::backend::known_gpu_triad_gbs(device).value_or(0); }
#endif

}  // namespace quarkstar::bench
