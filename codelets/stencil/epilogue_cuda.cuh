#pragma once
// GPU kernels of an epilogue: what it finds at a site, and the epilogue alone, without hops.
#include "codelets/arch/cuda_words.cuh"
#include "codelets/field/storage.hpp"
#include "codelets/stencil/arguments.hpp"
#include "codelets/stencil/epilogue.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {

/// One vector in one lane of an outer site, as an epilogue sees it. K: words of a lane side by side in vector fields.
template <class F, int K>
struct SiteOfThread {
  using V = Lane<Real<F>>;
  const F* x;  ///< of this site and vector
  std::size_t outer;
  int vector, lanes, lane;

  __device__ __forceinline__ V coefficient(const Real<F> (&values)[most_vectors]) const { return V{values[vector]}; }
  template <class Body>
  __device__ __forceinline__ void with_x(Body&& body) const {
    with_words<K, StreamedLoads, spinor_words<F>>(x, body);
  }
  template <int Reals, int Records, class Body>
  __device__ __forceinline__ void with_record(const F* field, int i, Body&& body) const {
    constexpr int words = NumberFormat<F>::site_words(Reals);
    with_words<1, CachedLoads, words>(field + (outer * Records + i) * static_cast<std::size_t>(words * lanes), body);
  }

  /// Loads all words before the first is used.
  template <int SideBySide, class Loads, int Words, class Body>
  __device__ __forceinline__ void with_words(const F* p, Body&& body) const {
    F words[Words];
    load_words<SideBySide, Loads>(words, p, lanes, lane);
    body(site::SiteReader<F, V>(words, 1));
  }
};

/// One thread per site (x) and vector (y) of N components.
template <class Epilogue, int N, class F, class Arguments>
__global__ void __launch_bounds__(128)
    epilogue_kernel(const __grid_constant__ Arguments a, int lanes, std::uint32_t sites, const VectorStatus* status, Obedience obedience) {
  using V = Lane<Real<F>>;
  constexpr int words = NumberFormat<F>::site_words(2 * N);
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const int vector = static_cast<int>(blockIdx.y);
  if (id >= sites || (left_out != nullptr && left_out[vector] != 0)) return;
  const std::size_t outer = id / lanes;
  const int lane = static_cast<int>(id % lanes);
  const std::size_t at = (outer * a.vectors + vector) * static_cast<std::size_t>(words * lanes);
  site::Complex<V> z[N];
  site::unroll<N>([&](auto c) { z[c] = {V{0}, V{0}}; });
  Epilogue::apply(z, a, SiteOfThread<F, 1>{a.x + at, outer, vector, lanes, lane});
  F stored[words];
  site::write_site<F>(stored, 1, z);
  store_words<1>(a.out + at, lanes, lane, stored);
}

/// Over `outer_sites` outer sites.
template <class Epilogue, int N, class F, class Arguments>
void launch_epilogue_of(const Arguments& arguments, int lanes, std::int64_t outer_sites, const VectorStatus* status, Obedience obedience,
                        runtime::CudaStream stream) {
  constexpr unsigned threads = 128;
  const auto sites = static_cast<std::uint32_t>(outer_sites * lanes);
  if (sites == 0) return;
  runtime::launch_overlapping(epilogue_kernel<Epilogue, N, F, Arguments>,
                              dim3((sites + threads - 1) / threads, static_cast<unsigned>(arguments.vectors)), threads, stream, arguments,
                              lanes, sites, status, obedience);
  runtime::check_launch("epilogue");
}

}  // namespace quarkstar::cuda
