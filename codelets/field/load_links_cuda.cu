#include "codelets/field/load_links_cuda.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/field/write_link.hpp"
#include "runtime/gpu/cuda_failure.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace quarkstar::cuda {
namespace {

constexpr std::int64_t site_bytes = HostGauge::reals_per_site * sizeof(double), piece_bytes = 64 << 20;

/// One thread per link of a piece: to the places of both its ends, where they are in the block.
template <class F>
__global__ void load_links_kernel(F* even, F* odd, const double* piece, const __grid_constant__ BlockLinks links,
                                  const __grid_constant__ Box box, std::int64_t first_site, std::uint32_t threads) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const int mu = static_cast<int>(id % 4), words = NumberFormat<F>::link_words(links.reals), lanes = links.shape.lanes,
            chunk = links.chunked ? site::chunk_words<F>(words) : 1;
  Coord site = site_of(box, first_site + id / 4);
  for (int nu = 0; nu < 4; ++nu) site[nu] = (site[nu] + links.lattice[nu]) % links.lattice[nu];
  double scaled[18];
  for (int i = 0; i < 18; ++i) scaled[i] = links.factors[static_cast<std::size_t>(mu)] * piece[std::int64_t{id} * 18 + i];
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

/// Whether a link of the box's sites `first` to `last` may touch the block.
bool touches(const BlockLinks& links, const Box& box, std::int64_t first, std::int64_t last) {
  const std::int64_t slice = volume(box.extents) / box.extents[3];
  for (std::int64_t t = first / slice; t <= last / slice; ++t)
    for (const std::int64_t end : {t, t + 1}) {
      const int time = static_cast<int>((end + box.origin[3] + links.lattice[3]) % links.lattice[3]) - links.block.origin[3];
      if (time >= 0 && time < links.block.extents[3]) return true;
    }
  return false;
}

}  // namespace

template <class F>
void launch_load_links(F* even, F* odd, const HostGauge& gauge, const BlockLinks& links, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const auto check = [](cudaError_t error) {
    if (error != cudaSuccess) runtime::fail_on_gpu("loading links", error);
  };
  const Box box = gauge.box();
  const std::int64_t sites = volume(box.extents), piece_sites = std::min(sites, piece_bytes / site_bytes);
  void* piece = nullptr;
  check(cudaMallocAsync(&piece, static_cast<std::size_t>(piece_sites * site_bytes), stream));
  for (std::int64_t first = 0; first < sites; first += piece_sites) {
    const std::int64_t count = std::min(piece_sites, sites - first);
    if (!touches(links, box, first, first + count - 1)) continue;
    check(cudaMemcpyAsync(piece, gauge.data.data() + first * HostGauge::reals_per_site, static_cast<std::size_t>(count * site_bytes),
                          cudaMemcpyHostToDevice, stream));
    const auto threads = static_cast<std::uint32_t>(4 * count);
    load_links_kernel<F>
        <<<(threads + width - 1) / width, width, 0, stream>>>(even, odd, static_cast<const double*>(piece), links, box, first, threads);
    check(cudaGetLastError());
  }
  check(cudaFreeAsync(piece, stream));
}

template void launch_load_links(Half*, Half*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(float*, float*, const HostGauge&, const BlockLinks&, runtime::CudaStream);
template void launch_load_links(double*, double*, const HostGauge&, const BlockLinks&, runtime::CudaStream);

}  // namespace quarkstar::cuda
