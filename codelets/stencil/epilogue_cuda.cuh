#pragma once
// GPU kernels of an epilogue: what it finds at a site, and the epilogue alone, without hops.
#include "codelets/arch/bulk_copies.cuh"
#include "codelets/arch/cuda_words.cuh"
#include "codelets/field/storage.hpp"
#include "codelets/stencil/arguments.hpp"
#include "codelets/stencil/epilogue.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {

/// One vector at one site, as an epilogue sees it. Reals: of a vector; Chunked: stencil::Choice::chunked; Staged: records of the epilogue's
/// first field are in shared memory; LoadsOfX: how x is read, once.
template <class F, int Reals, bool Chunked, bool Staged = false, class LoadsOfX = StreamedLoads>
struct SiteOfThread {
  using V = Lane<Real<F>>;
  const F* x;  ///< of all lanes of this outer site and vector
  std::size_t outer;
  int vector, lanes, lane;    ///< lanes: of vector fields
  int site_lanes, site_lane;  ///< of site fields; one where vectors are in lanes
  const F* staged = nullptr;  ///< records of this outer site

  __device__ __forceinline__ V coefficient(const Real<F> (&values)[most_vectors]) const { return V{values[vector]}; }
  template <class Body>
  __device__ __forceinline__ void with_x(Body&& body) const {
    with_vector<LoadsOfX>(x, body);
  }
  template <int RecordReals, int Records, int Number, class Body>
  __device__ __forceinline__ void with_record(const F* field, int i, Body&& body) const {
    constexpr int words = NumberFormat<F>::site_words(RecordReals);
    if constexpr (Staged && Number == 0) with_words<SharedLoads, words>(staged + i * words * site_lanes, site_lanes, site_lane, body);
    else
      with_words<CachedLoads, words>(field + (outer * Records + i) * static_cast<std::size_t>(words * site_lanes), site_lanes, site_lane,
                                     body);
  }

  /// body(reader) for a vector like x.
  template <class Loads, class Body>
  __device__ __forceinline__ void with_vector(const F* p, Body&& body) const {
    with_words<Loads, NumberFormat<F>::site_words(Reals)>(p, lanes, lane, body);
  }

 private:
  /// Loads all words before the first is used.
  template <class Loads, int Words, class Body>
  static __device__ __forceinline__ void with_words(const F* p, int of_lanes, int in_lane, Body&& body) {
    constexpr int head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(Words - head) : 1;
    F words[Words];
    load_words<chunk, head, Loads>(words, p, of_lanes, in_lane);
    body(site::SiteReader<F, V>(words, 1));
  }
};

/// One thread per lane of an outer site (x) and vector, or group of vectors in lanes (y), of N components.
template <class Epilogue, int N, class F, bool Chunked, class Arguments>
__global__ void __launch_bounds__(128) epilogue_kernel(const __grid_constant__ Arguments a, int lanes, bool of_vectors,
                                                       std::uint32_t threads, const VectorStatus* status, Obedience obedience) {
  using V = Lane<Real<F>>;
  constexpr int words = NumberFormat<F>::site_words(2 * N), head = site::head_words<F>,
                chunk = Chunked ? site::chunk_words<F>(words - head) : 1;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const int group = static_cast<int>(blockIdx.y), lane = static_cast<int>(id % lanes), vector = of_vectors ? group * lanes + lane : group;
  if (id >= threads || (left_out != nullptr && left_out[vector] != 0)) return;
  const std::size_t outer = id / lanes, at = (outer * gridDim.y + group) * static_cast<std::size_t>(words * lanes);
  site::Complex<V> z[N];
  site::unroll<N>([&](auto c) { z[c] = {V{0}, V{0}}; });
  Epilogue::apply(z, a,
                  SiteOfThread<F, 2 * N, Chunked>{a.x + at, outer, vector, lanes, lane, of_vectors ? 1 : lanes, of_vectors ? 0 : lane});
  F stored[words];
  site::write_site<F>(stored, 1, z);
  store_words<chunk, head>(a.out + at, lanes, lane, stored);
}

/// Over `outer_sites` outer sites.
template <class Epilogue, int N, class F, class Arguments>
void launch_epilogue_of(const stencil::Choice& choice, const Arguments& arguments, std::int64_t outer_sites, const VectorStatus* status,
                        Obedience obedience, runtime::CudaStream stream) {
  constexpr unsigned threads_of_block = 128;
  const bool of_vectors = choice.vectors_in_lanes > 1;
  const int lanes = of_vectors ? choice.vectors_in_lanes : choice.lanes;
  const auto groups = static_cast<unsigned>(arguments.vectors / choice.vectors_in_lanes);
  const auto threads = static_cast<std::uint32_t>(outer_sites * lanes);
  if (threads == 0) return;
  const auto launch = [&](auto chunked) {
    runtime::launch_overlapping(epilogue_kernel<Epilogue, N, F, chunked, Arguments>,
                                dim3((threads + threads_of_block - 1) / threads_of_block, groups), threads_of_block, stream, arguments,
                                lanes, of_vectors, threads, status, obedience);
  };
  if (choice.chunked) launch(std::true_type{});
  else launch(std::false_type{});
  runtime::check_launch("epilogue");
}

}  // namespace quarkstar::cuda
