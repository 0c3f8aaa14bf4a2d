#pragma once
// Links in host order on their way to a GPU or from it, piece by piece through one buffer of the GPU, in double precision.
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_failure.hpp"
#include "runtime/gpu/pinned_arrays.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace quarkstar::cuda {

/// So many time slices of a lattice of extent `lattice`, from one on and over the edge.
struct TimeSlices {
  int begin, count, lattice;

  bool has(int t) const { return ((t - begin) % lattice + lattice) % lattice < count; }
};

/// Sites of a box, one after the other in its memory: links from `reals` on, in the buffer on the GPU.
struct HostPiece {
  double* reals;
  std::int64_t first;  ///< in the box
  std::uint32_t sites;

  /// Threads of a kernel with one for each link.
  constexpr std::uint32_t links() const { return 4 * sites; }
};

/// Calls body(piece) for all sites that a host's links have in some of these time slices, one after the other. what: for errors.
template <class Body>
void for_pieces(const char* what, const HostGauge& host, const TimeSlices& wanted, runtime::CudaStream stream, Body&& body) {
  runtime::pin_array(host.data.data(), host.data.size() * sizeof(double));
  const Box box = host.box();
  constexpr std::int64_t site_bytes = HostGauge::reals_per_site * sizeof(double), piece_bytes = 64 << 20;
  const auto check = [&](cudaError_t error) {
    if (error != cudaSuccess) runtime::fail_on_gpu(what, error);
  };
  const std::int64_t sites = volume(box.extents), slice = sites / box.extents[3], most = std::min(sites, piece_bytes / site_bytes);
  void* buffer = nullptr;
  check(cudaMallocAsync(&buffer, static_cast<std::size_t>(most * site_bytes), stream));
  for (int begin = 0, end; begin < box.extents[3]; begin = end) {
    const bool is_wanted = wanted.has(begin + box.origin[3]);
    for (end = begin + 1; end < box.extents[3] && wanted.has(end + box.origin[3]) == is_wanted;) ++end;
    for (std::int64_t first = begin * slice; is_wanted && first < end * slice; first += most) {
      body(HostPiece{static_cast<double*>(buffer), first, static_cast<std::uint32_t>(std::min(most, end * slice - first))});
      check(cudaGetLastError());
    }
  }
  check(cudaFreeAsync(buffer, stream));
}

/// Calls launch(piece) for each piece once its links are enqueued to be there. The host's are read until the stream has ended.
template <class Launch>
void send_pieces(const char* what, const HostGauge& host, const TimeSlices& wanted, runtime::CudaStream stream, Launch&& launch) {
  for_pieces(what, host, wanted, stream, [&](const HostPiece& piece) {
    const cudaError_t error = cudaMemcpyAsync(piece.reals, host.data.data() + piece.first * HostGauge::reals_per_site,
                                              piece.sites * HostGauge::reals_per_site * sizeof(double), cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) runtime::fail_on_gpu(what, error);
    launch(piece);
  });
}

/// Takes to the host what launch(piece) is enqueued to write, for each piece. The host has it when the stream has ended.
template <class Launch>
void fetch_pieces(const char* what, HostGauge& host, const TimeSlices& wanted, runtime::CudaStream stream, Launch&& launch) {
  for_pieces(what, host, wanted, stream, [&](const HostPiece& piece) {
    launch(piece);
    const cudaError_t error = cudaMemcpyAsync(host.data.data() + piece.first * HostGauge::reals_per_site, piece.reals,
                                              piece.sites * HostGauge::reals_per_site * sizeof(double), cudaMemcpyDeviceToHost, stream);
    if (error != cudaSuccess) runtime::fail_on_gpu(what, error);
  });
}

}  // namespace quarkstar::cuda
