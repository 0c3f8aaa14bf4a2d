#include "codelets/actions/staggered/load_links_cuda.hpp"
#include "codelets/actions/staggered/stored_link.hpp"
#include "codelets/field/link_copy.cuh"
#include "codelets/gauge/host_pieces.cuh"

namespace quarkstar::staggered {
namespace {

/// One thread per link of a piece: to the places of both its ends, where they are in the block.
template <class F>
__global__ void load_links_kernel(F* even, F* odd, const __grid_constant__ cuda::HostPiece piece, const __grid_constant__ BlockLinks links,
                                  const __grid_constant__ Box box) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= piece.links()) return;
  const int mu = static_cast<int>(id % 4), words = NumberFormat<F>::link_words(links.reals), lanes = links.shape.lanes;
  Coord site = site_of(box, piece.first + id / 4);
  for (int end = 0; end < 2; ++end) {
    Coord local{};
    bool inside = true;
    for (int nu = 0; nu < 4; ++nu) {
      const int step = end == 1 && nu == mu ? links.hops : 0;
      local[nu] = (site[nu] + step + links.lattice[nu]) % links.lattice[nu] - links.block.origin[nu];
      inside = inside && local[nu] >= 0 && local[nu] < links.block.extents[nu];
    }
    if (!inside) continue;
    const StoredLink stored = stored_numbers(multiplier(piece.reals + std::int64_t{id} * 18, end == 0), links.reals, links.size);
    const SitePosition place = links.shape.locate(local);
    F* to = (place.parity == 0 ? even : odd) + (std::int64_t{place.outer} * 8 + 2 * mu + end) * words * lanes + place.lane;
    write_stored_link(to, stored, links.reals, lanes, links.size);
  }
}

}  // namespace

template <class F>
void launch_load_links(F* even, F* odd, const HostGauge& host, const BlockLinks& links, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const cuda::TimeSlices wanted{links.block.origin[3] - links.hops, links.block.extents[3] + links.hops, links.lattice[3]};
  cuda::send_pieces("loading staggered links", host, wanted, stream, [&](const cuda::HostPiece& piece) {
    load_links_kernel<F><<<(piece.links() + width - 1) / width, width, 0, stream>>>(even, odd, piece, links, host.box());
  });
}

template void launch_load_links(Half*, Half*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(float*, float*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(double*, double*, const HostGauge&, const BlockLinks&, runtime::CudaStream);

}  // namespace quarkstar::staggered

namespace quarkstar::cuda {
template void launch_copy_links(Half*, const double*, const transfer::LinkCopy<staggered::StoredForm>&, int, runtime::CudaStream);
template void launch_copy_links(float*, const double*, const transfer::LinkCopy<staggered::StoredForm>&, int, runtime::CudaStream);
template void launch_copy_links(double*, const double*, const transfer::LinkCopy<staggered::StoredForm>&, int, runtime::CudaStream);
}  // namespace quarkstar::cuda
