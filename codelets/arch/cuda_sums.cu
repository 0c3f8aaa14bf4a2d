#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_sums.hpp"
#include "runtime/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

/// Threads of a block: three warps gather a limb each.
constexpr int finish_threads = 256;

/// One block a sum: adds the three limbs that count over the places, then clears the table for the next kernel.
__global__ void __launch_bounds__(finish_threads) finish_kernel(SumTable* tables, runtime::BinnedSum* partial, const std::int32_t* stop) {
  runtime::wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  constexpr unsigned all = 0xffffffffu;
  SumTable& table = tables[blockIdx.x];
  const int limb = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (limb < 3) {
    SumTable::Place& place = table.place[lane];
    const int window = __reduce_max_sync(all, place.window);
    const bool poisoned = __any_sync(all, place.poisoned != 0);
    unsigned long long digits = window != 0 ? place.limb_of(window - SumTable::window_bias, limb) : 0;
    for (int half = 16; half > 0; half /= 2) digits += __shfl_xor_sync(all, digits, half);
    if (lane == 0) {
      runtime::BinnedSum& sum = partial[blockIdx.x];
      sum.limb[limb] = static_cast<std::int64_t>(digits);
      if (limb == 0) {
        sum.window = window != 0 ? window - SumTable::window_bias : runtime::BinnedSum::empty_window;
        sum.poisoned = poisoned ? 1 : 0;
      }
    }
  }
  __syncthreads();
  static_assert(sizeof(SumTable) % sizeof(uint4) == 0 && alignof(SumTable) == 16);
  auto* words = reinterpret_cast<uint4*>(&table);
  for (unsigned i = threadIdx.x; i < sizeof(SumTable) / sizeof(uint4); i += finish_threads) words[i] = make_uint4(0, 0, 0, 0);
}

}  // namespace

SumTable* sum_tables() {
  constexpr int slot = 0;
  return static_cast<SumTable*>(runtime::worker_memory(slot, most_sums * sizeof(SumTable)));
}

void finish_sums(runtime::BinnedSum* partial, int count, const std::int32_t* stop, runtime::CudaStream stream) {
  if (count == 0) return;
  runtime::launch_overlapping(finish_kernel, static_cast<unsigned>(count), finish_threads, stream, sum_tables(), partial, stop);
  runtime::check_launch("finish_sums");
}

}  // namespace quarkstar::cuda
