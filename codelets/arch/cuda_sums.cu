#include "codelets/arch/cuda_launch.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_sums.hpp"

namespace quarkstar::cuda {
namespace {

/// One block a sum: reads the three limbs that count, then clears the table for the next kernel.
__global__ void finish_kernel(SumTable* tables, runtime::BinnedSum* partial, const std::int32_t* stop) {
  wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  SumTable& table = tables[blockIdx.x];
  if (threadIdx.x == 0) {
    runtime::BinnedSum sum = runtime::BinnedSum::zero();
    sum.poisoned = table.poisoned;
    if (table.window != 0) {
      sum.window = table.window - SumTable::window_bias;
      for (int i = 0; i < 3; ++i) sum.limb[i] = static_cast<std::int64_t>(table.limb[sum.window + 33 - i]);
    }
    partial[blockIdx.x] = sum;
    table.window = 0;
    table.poisoned = 0;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < SumTable::limbs; i += static_cast<int>(blockDim.x)) table.limb[i] = 0;
}

}  // namespace

SumTable* sum_tables() {
  constexpr int slot = 0;
  return static_cast<SumTable*>(runtime::worker_memory(slot, most_sums * sizeof(SumTable)));
}

void finish_sums(runtime::BinnedSum* partial, int count, const std::int32_t* stop, runtime::CudaStream stream) {
  if (count == 0) return;
  launch_overlapping(finish_kernel, static_cast<unsigned>(count), 64, stream, sum_tables(), partial, stop);
  runtime::check_launch("finish_sums");
}

}  // namespace quarkstar::cuda
