#pragma once
#include "codelets/field/link_copy.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_failure.hpp"

#include <cuda_runtime.h>

namespace quarkstar::cuda {

/// One thread per site and direction; neighbouring threads are neighbouring lanes.
template <class F, class Form>
__global__ void copy_links_kernel(F* to, const double* from, const __grid_constant__ transfer::LinkCopy<Form> copy, int parity) {
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, sites = std::int64_t{copy.to.outer_sites()} * copy.to.lanes;
  if (id >= sites) return;
  const SitePosition here{parity, static_cast<int>(id / copy.to.lanes), static_cast<int>(id % copy.to.lanes)};
  copy.copy(to, from, here, copy.from.locate(copy.to.local_site(here)), static_cast<int>(blockIdx.y));
}

/// Enqueues the copy of all links of one parity.
template <class F, class Form>
void launch_copy_links(F* to, const double* from, const transfer::LinkCopy<Form>& copy, int parity, runtime::CudaStream stream) {
  constexpr int threads = 128;
  const std::int64_t sites = std::int64_t{copy.to.outer_sites()} * copy.to.lanes;
  const dim3 grid(static_cast<unsigned>((sites + threads - 1) / threads), 8);
  copy_links_kernel<<<grid, threads, 0, stream>>>(to, from, copy, parity);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) runtime::fail_on_gpu("copying links", error);
}

}  // namespace quarkstar::cuda
