#pragma once
// What the CUDA drivers of products with matrices in the fifth dimension share.
#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/domain_wall/slice_site.hpp"
#include "codelets/arch/cuda_words.cuh"

namespace quarkstar::cuda {

/// The words of a spinor in registers: of one lane of the site at p, which begins with its first lane.
template <class F, bool Chunked>
struct SpinorOfSlice {
  F words[spinor_words<F>];
  __device__ __forceinline__ SpinorOfSlice(const F* p, int lanes, int lane) {
    constexpr int head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(spinor_words<F> - head) : 1;
    load_words<chunk, head, CachedLoads>(words, p, lanes, lane);
  }
  __device__ __forceinline__ site::Complex<Lane<Real<F>>> component(int c) const {
    return site::SiteReader<F, Lane<Real<F>>>(words, 1).component(c);
  }
};

/// Stores z as one lane of the site at p.
template <class F, bool Chunked>
__device__ __forceinline__ void store_slice(F* p, int lanes, int lane, const site::Complex<Lane<Real<F>>> (&z)[domain_wall::components]) {
  constexpr int head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(spinor_words<F> - head) : 1;
  F words[spinor_words<F>];
  site::write_site<F>(words, 1, z);
  store_words<chunk, head>(p, lanes, lane, words);
}

/// A complex number of the tile in shared memory, [slice][component][lane], which a dense matrix multiplies: a warp reads one of each of
/// its lanes at once, which fill a line of banks where a line of memory has one number of each lane.
template <class F>
using InTile = std::conditional_t<sizeof(Real<F>) == 8, double2, float2>;

}  // namespace quarkstar::cuda
