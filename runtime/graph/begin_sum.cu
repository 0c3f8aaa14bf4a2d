// The first half of a sum over ranks whose second half a scalar step takes later.
#include "runtime/graph/scalar.cuh"

namespace quarkstar::runtime::detail {
namespace {

/// own[s] <- the s-th sum of this device, which is sent to the others.
__global__ void __launch_bounds__(32 * most_scalar_warps, 1) begin_sum_kernel(const __grid_constant__ ScalarSums work, BinnedSum* own) {
  wait_for_predecessors();
  __shared__ BinnedSum finished[most_sums_on_cuda], totals[most_sums_on_cuda];
  const BlockExchange exchange(work.exchange, max(work.sums, 1));
  gather_sums(work, finished, totals, [] {});
  __syncthreads();
  if (!work.last) return;
  exchange.send(totals);
  if (static_cast<int>(threadIdx.x) < work.sums) own[threadIdx.x] = totals[threadIdx.x];
}

}  // namespace

void run_begin_sum_on_cuda(Call& call) {
  launch_with_sums(call, 1, [&call](const ScalarSums& work, unsigned threads, CudaStream stream) {
    launch_overlapping(begin_sum_kernel, 1, threads, stream, work, call.buffer<BinnedSum>(0));
  });
  check_launch("scalar.begin_sum");
}

}  // namespace quarkstar::runtime::detail
