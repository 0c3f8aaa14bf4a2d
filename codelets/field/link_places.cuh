#pragma once
// Instantiated for each Form, in a .cu of its own (QUARKSTAR_LINK_FORM).
#include "codelets/field/link_places.hpp"
#include "codelets/gauge/host_pieces.cuh"

namespace quarkstar::cuda {

/// One thread per link of a piece.
template <class F, class Form>
__global__ void load_links_kernel(F* even, F* odd, const __grid_constant__ HostPiece piece,
                                  const __grid_constant__ transfer::LinkLoad<Form> load, const __grid_constant__ Box box) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < piece.links())
    load.scatter(even, odd, piece.reals + std::int64_t{id} * 18, site_of(box, piece.first + id / 4), static_cast<int>(id % 4));
}

/// One thread per site and direction; neighbouring threads are neighbouring lanes.
template <class F, class Form>
__global__ void copy_links_kernel(F* to, const double* from, const __grid_constant__ transfer::LinkCopy<Form> copy, int parity) {
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int lanes = copy.to.shape.lanes;
  if (id >= std::int64_t{copy.to.shape.outer_sites()} * lanes) return;
  const SitePosition site{parity, static_cast<int>(id / lanes), static_cast<int>(id % lanes)};
  copy.copy(to, from, site, copy.find(site), static_cast<int>(blockIdx.y));
}

template <class F, class Form>
void launch_load_links(F* even, F* odd, const HostGauge& host, const transfer::LinkLoad<Form>& load, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const TimeSlices wanted{load.block.origin[3] - load.hops, load.block.extents[3] + load.hops, load.lattice[3]};
  send_pieces("loading links", host, wanted, stream, [&](const HostPiece& piece) {
    load_links_kernel<<<(piece.links() + width - 1) / width, width, 0, stream>>>(even, odd, piece, load, host.box());
  });
}

template <class F, class Form>
void launch_copy_links(F* to, const double* from, const transfer::LinkCopy<Form>& copy, int parity, runtime::CudaStream stream) {
  constexpr int width = 128;
  const std::int64_t sites = std::int64_t{copy.to.shape.outer_sites()} * copy.to.shape.lanes;
  copy_links_kernel<<<dim3(static_cast<unsigned>((sites + width - 1) / width), 8), width, 0, stream>>>(to, from, copy, parity);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) runtime::fail_on_gpu("copying links", error);
}

#define QUARKSTAR_LINK_FORM(F, Form)                                                                               \
  template void launch_load_links(F*, F*, const HostGauge&, const transfer::LinkLoad<Form>&, runtime::CudaStream); \
  template void launch_copy_links(F*, const double*, const transfer::LinkCopy<Form>&, int, runtime::CudaStream);

}  // namespace quarkstar::cuda
