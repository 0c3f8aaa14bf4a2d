#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_sums.cuh"
#include "runtime/gpu/gpu_sums.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::runtime {
namespace {

constexpr int warps = 8;

/// A warp a sum.
__global__ void __launch_bounds__(32 * warps) finish_kernel(const UnfinishedSums sums) {
  wait_for_predecessors();
  if (sums.idle != nullptr && *sums.idle != 0) return;
  const int s = static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32;
  if (s >= sums.count) return;
  const BinnedSum sum = take_sum(sums.tables[s], seen_in(sums.tables[s]));
  if (threadIdx.x % 32 == 0) sums.partial[s] = sum;
}

/// What has been put off on a stream: few, because each lane has one at most.
struct PutOff {
  CudaStream stream;
  UnfinishedSums sums;
};
thread_local std::vector<PutOff> put_off;

/// Takes the first that fits out of the list.
template <class Fits>
PutOff take_if(Fits&& fits) {
  const auto at = std::find_if(put_off.begin(), put_off.end(), fits);
  if (at == put_off.end()) return {};
  PutOff taken = *at;
  put_off.erase(at);
  return taken;
}

}  // namespace

SumTable* sum_tables() {
  constexpr int slot = 0;
  auto* tables = static_cast<SumTable*>(worker_memory(slot, most_sums * sizeof(SumTable)));
  const PutOff before = take_if([tables](const PutOff& work) { return work.sums.tables == tables; });
  enqueue_finish(before.sums, before.stream);
  return tables;
}

void finish_sums(BinnedSum* partial, int count, const std::int32_t* idle, CudaStream stream) {
  if (count == 0) return;
  put_off.push_back({stream, {sum_tables(), partial, idle, count}});
}

UnfinishedSums take_unfinished_sums(CudaStream stream) {
  return take_if([stream](const PutOff& work) { return work.stream == stream; }).sums;
}

void enqueue_finish(const UnfinishedSums& sums, CudaStream stream) {
  if (sums.count == 0) return;
  launch_overlapping(finish_kernel, static_cast<unsigned>((sums.count + warps - 1) / warps), 32 * warps, stream, sums);
  check_launch("finish_sums");
}

void flush_sums(CudaStream stream) { enqueue_finish(take_unfinished_sums(stream), stream); }

}  // namespace quarkstar::runtime
