#include "codelets/field/link_copy.cuh"
#include "codelets/field/load_links_cuda.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/field/write_link.hpp"
#include "codelets/gauge/host_pieces.cuh"

namespace quarkstar::cuda {
namespace {

/// One thread per link of a piece: to the places of both its ends, where they are in the block.
template <class F>
__global__ void load_links_kernel(F* even, F* odd, const __grid_constant__ HostPiece piece, const __grid_constant__ BlockLinks links,
                                  const __grid_constant__ Box box) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= piece.links()) return;
  const int mu = static_cast<int>(id % 4), words = NumberFormat<F>::link_words(links.reals), lanes = links.shape.lanes,
            chunk = links.chunked ? site::chunk_words<F>(words) : 1;
  Coord site = site_of(box, piece.first + id / 4);
  for (int nu = 0; nu < 4; ++nu) site[nu] = (site[nu] + links.lattice[nu]) % links.lattice[nu];
  double scaled[18];
  for (int i = 0; i < 18; ++i) scaled[i] = links.factors[static_cast<std::size_t>(mu)] * piece.reals[std::int64_t{id} * 18 + i];
  F link[18];
  transfer::write_rows(link, scaled, links.reals, 1);
  for (int end = 0; end < 2; ++end) {
    Coord local{};
    bool inside = true;
    for (int nu = 0; nu < 4; ++nu) {
      local[nu] = site[nu] - links.block.origin[nu];
      inside = inside && local[nu] >= 0 && local[nu] < links.block.extents[nu];
    }
    if (inside) {
      const SitePosition place = links.shape.locate(local);
      F* to = (place.parity == 0 ? even : odd) + (std::int64_t{place.outer} * 8 + 2 * mu + end) * words * lanes;
      for (int w = 0; w < words; ++w) to[site::word_place(w, place.lane, lanes, chunk)] = link[w];
    }
    site[mu] = (site[mu] + 1) % links.lattice[mu];
  }
}

}  // namespace

template <class F>
void launch_load_links(F* even, F* odd, const HostGauge& gauge, const BlockLinks& links, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const TimeSlices wanted{links.block.origin[3] - 1, links.block.extents[3] + 1, links.lattice[3]};
  send_pieces("loading links", gauge, wanted, stream, [&](const HostPiece& piece) {
    load_links_kernel<F><<<(piece.links() + width - 1) / width, width, 0, stream>>>(even, odd, piece, links, gauge.box());
  });
}

template void launch_copy_links(Half*, const double*, const transfer::LinkCopy<transfer::RowsForm>&, int, runtime::CudaStream);
template void launch_copy_links(float*, const double*, const transfer::LinkCopy<transfer::RowsForm>&, int, runtime::CudaStream);
template void launch_copy_links(double*, const double*, const transfer::LinkCopy<transfer::RowsForm>&, int, runtime::CudaStream);
template void launch_load_links(Half*, Half*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(float*, float*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(double*, double*, const HostGauge&, const BlockLinks&, runtime::CudaStream);

}  // namespace quarkstar::cuda
