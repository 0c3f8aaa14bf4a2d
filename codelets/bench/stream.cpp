#include "codelets/bench/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "codelets/arch/table.hpp"
#include "codelets/bench/stream_cuda.hpp"
#include "codelets/bench/stream_kernels.hpp"
#include "runtime/error.hpp"
#include "runtime/large_pages.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::bench {
namespace {

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};

std::unique_ptr<double[], Free> allocate(std::size_t bytes) {
  void* memory = runtime::allocate_pages(bytes);
  if (memory == nullptr)
    throw Error(ErrorKind::environment, "bench stream", "not enough memory for the arrays", "give smaller arrays");
  return std::unique_ptr<double[], Free>(static_cast<double*>(memory));
}

}  // namespace

StreamResult measure_stream(const runtime::Team& team, std::size_t bytes_per_array, int repetitions) {
  if constexpr (runtime::simulate::active) {
    const double triad = runtime::simulate::machine().team_gbs(team.threads(), 1);
    return {triad, triad, triad, triad};
  }
  static constexpr arch::KernelTable<StreamKernels (*)()> table = QUARKSTAR_KERNEL_TABLE(stream_kernels);
  const StreamKernels kernels = table.current()();
  const std::size_t bytes = (bytes_per_array + runtime::huge_page - 1) / runtime::huge_page * runtime::huge_page;
  constexpr std::int64_t group = 512;  // threads' shares stay whole cache lines
  const auto groups = static_cast<std::int64_t>(bytes / sizeof(double)) / group;
  const auto a = allocate(bytes), b = allocate(bytes), c = allocate(bytes);
  team.for_range(groups, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin * group; i < end * group; ++i) a[i] = 0, b[i] = 1 + 1e-9 * static_cast<double>(i), c[i] = 2;
  });
  const auto best_of = [&](double bytes_moved, auto&& pass) {
    double best = 0;
    for (int r = 0; r < repetitions; ++r) {
      const auto start = std::chrono::steady_clock::now();
      team.for_range(groups, [&](std::int64_t begin, std::int64_t end, int thread) { pass(begin * group, end * group, thread); });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      best = std::max(best, bytes_moved / seconds * 1e-9);
    }
    return best;
  };
  const double size = static_cast<double>(groups * group) * sizeof(double);
  struct alignas(64) Sink {
    double value;
  };
  std::vector<Sink> sinks(static_cast<std::size_t>(team.threads()));
  StreamResult result;
  result.triad = best_of(3 * size, [&](auto begin, auto end, int) { kernels.triad(a.get(), b.get(), c.get(), 3.0, begin, end); });
  result.triad_streaming =
      best_of(3 * size, [&](auto begin, auto end, int) { kernels.triad_streaming(a.get(), b.get(), c.get(), 3.0, begin, end); });
  result.copy_streaming = best_of(2 * size, [&](auto begin, auto end, int) { kernels.copy_streaming(a.get(), b.get(), begin, end); });
  // All three, as the triad: one alone may stay in a cache that they do not fit into together.
  result.read = best_of(3 * size, [&](auto begin, auto end, int thread) {
    double sum = 0;
    for (const double* array : {a.get(), b.get(), c.get()}) sum += kernels.read(array, begin, end);
    sinks[static_cast<std::size_t>(thread)].value = sum;
  });
  return result;
}

FusedPeak measure_fused_peak(const runtime::Team& team, int repetitions) {
  if constexpr (runtime::simulate::active) return {};
  static constexpr arch::KernelTable<StreamKernels (*)()> table = QUARKSTAR_KERNEL_TABLE(stream_kernels);
  const StreamKernels kernels = table.current()();
  // Some milliseconds a pass: waking a team and the frequency of wide registers take tenths of one.
  constexpr std::int64_t steps = 1000000;
  constexpr int least_passes = 5;
  std::vector<double> sinks(static_cast<std::size_t>(team.threads()));
  const auto best_of = [&](double (*chains)(std::int64_t), int lanes) {
    double best = 0;
    for (int r = 0; r < std::max(repetitions, least_passes); ++r) {
      const auto start = std::chrono::steady_clock::now();
      team.for_range(team.threads(), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) sinks[static_cast<std::size_t>(i)] = chains(steps);
      });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      best = std::max(best, 2.0 * static_cast<double>(steps) * fused_chains * lanes * team.threads() / seconds * 1e-9);
    }
    return best;
  };
  return {best_of(kernels.fused_single, kernels.lanes_single), best_of(kernels.fused_double, kernels.lanes_double)};
}

#ifndef QUARKSTAR_CUDA
double measure_triad_on_gpu(int, std::size_t, int) {
  if constexpr (runtime::simulate::active) return runtime::simulate::machine().gpu.triad_gbs;
  return 0;
}
#endif

}  // namespace quarkstar::bench
