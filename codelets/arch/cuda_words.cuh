#pragma once
// How a thread moves the words of its lane of a site or link between memory and registers, where word_place() puts them.
#include "codelets/arch/cuda.cuh"
#include "codelets/field/host_field.hpp"
#include "codelets/field/word_place.hpp"

#include <type_traits>

namespace quarkstar::cuda {

/// What is moved at once: Count words of type F.
template <class F, int Count>
using Moved = std::conditional_t<sizeof(F) == 8, std::conditional_t<Count == 1, unsigned long long, ulonglong2>,
                                 std::conditional_t<Count == 1, unsigned, std::conditional_t<Count == 2, uint2, uint4>>>;

/// Ordinary stores.
struct CachedStores {
  template <class Bits>
  static __device__ __forceinline__ void bits(Bits* p, const Bits& x) {
    *p = x;
  }
};

/// Of results that the kernel does not read: they stay out of L1.
struct PassingStores {
  static __device__ __forceinline__ void bits(unsigned* p, unsigned x) {
    asm volatile("st.global.L1::no_allocate.b32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
  }
  static __device__ __forceinline__ void bits(unsigned long long* p, unsigned long long x) {
    asm volatile("st.global.L1::no_allocate.b64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
  }
  static __device__ __forceinline__ void bits(uint2* p, const uint2& x) {
    asm volatile("st.global.L1::no_allocate.v2.b32 [%0], {%1,%2};" ::"l"(p), "r"(x.x), "r"(x.y) : "memory");
  }
  static __device__ __forceinline__ void bits(uint4* p, const uint4& x) {
    asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
  }
  static __device__ __forceinline__ void bits(ulonglong2* p, const ulonglong2& x) {
    asm volatile("st.global.L1::no_allocate.v2.b64 [%0], {%1,%2};" ::"l"(p), "l"(x.x), "l"(x.y) : "memory");
  }
};

/// K words at p to registers, and back.
template <int K, class Loads, class F>
__device__ __forceinline__ void load_chunk(F* words, const F* p) {
  const auto moved = Loads::bits(reinterpret_cast<const Moved<F, K>*>(p));
  __builtin_memcpy(words, &moved, sizeof moved);
}
template <int K, class Stores = CachedStores, class F>
__device__ __forceinline__ void store_chunk(F* p, const F* words) {
  Moved<F, K> moved;
  __builtin_memcpy(&moved, words, sizeof moved);
  Stores::bits(reinterpret_cast<Moved<F, K>*>(p), moved);
}

/// words = those of one lane of the site or link at p, which begins with its first lane. K: words of a chunk; Head: words before the
/// chunks, none or one; Loads: CachedLoads, ... What depends on the lane is added first, so that the rest goes into the instructions as a
/// constant.
template <int K, int Head, class Loads, class F, int Words>
__device__ __forceinline__ void load_words(F (&words)[Words], const F* p, int lanes, int lane) {
  static_assert((Words - Head) % K == 0);
  if constexpr (Head > 0) load_chunk<1, Loads>(words, p + lane);
  const F* first = p + lane * K;
  site::unroll<(Words - Head) / K>([&](auto i) { load_chunk<K, Loads>(words + Head + i * K, first + (Head + i * K) * lanes); });
}

/// The inverse.
template <int K, int Head, class Stores = CachedStores, class F, int Words>
__device__ __forceinline__ void store_words(F* p, int lanes, int lane, const F (&words)[Words]) {
  static_assert((Words - Head) % K == 0);
  if constexpr (Head > 0) store_chunk<1, Stores>(p + lane, words);
  F* first = p + lane * K;
  site::unroll<(Words - Head) / K>([&](auto i) { store_chunk<K, Stores>(first + (Head + i * K) * lanes, words + Head + i * K); });
}

/// body(words of a chunk) for the vectors of a field that is chunked, or not.
template <class F, int Components, class Body>
__device__ __forceinline__ void with_chunk(bool chunked, Body&& body) {
  constexpr int chunk =
      Components == colour_components ? 1 : site::chunk_words<F>(NumberFormat<F>::site_words(2 * Components) - site::head_words<F>);
  if (chunk > 1 && chunked) body(site::Index<chunk>{});
  else body(site::Index<1>{});
}

}  // namespace quarkstar::cuda
