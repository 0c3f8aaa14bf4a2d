#pragma once
// How a thread moves the words of its lane of a site or link between memory and registers, where word_place() puts them.
#include "codelets/arch/cuda.cuh"
#include "codelets/field/word_place.hpp"

#include <type_traits>

namespace quarkstar::cuda {

/// What is moved at once: Count words of type F.
template <class F, int Count>
using Moved = std::conditional_t<sizeof(F) == 8, std::conditional_t<Count == 1, unsigned long long, ulonglong2>,
                                 std::conditional_t<Count == 1, unsigned, uint2>>;

/// Calls body(first word, pointer to it) for each K words of a lane; p: as below. What depends on the lane is added first, so
/// that the rest goes into the instructions as a constant.
template <int K, int Words, class F, class Body>
__device__ __forceinline__ void for_words(F* p, int lanes, int lane, Body&& body) {
  static_assert(Words % K == 0);
  F* first = p + lane * K;
  site::unroll<Words / K>([&](auto i) { body(site::Index<i * K>{}, first + i * K * lanes); });
}

/// words = those of one lane of the site or link at p, which begins with its first lane. K: words side by side; Loads: CachedLoads, ...
template <int K, class Loads, class F, int Words>
__device__ __forceinline__ void load_words(F (&words)[Words], const F* p, int lanes, int lane) {
  for_words<K, Words>(p, lanes, lane, [&](auto w, const F* at) {
    const auto moved = Loads::bits(reinterpret_cast<const Moved<F, K>*>(at));
    __builtin_memcpy(words + w, &moved, sizeof moved);
  });
}

/// The inverse.
template <int K, class F, int Words>
__device__ __forceinline__ void store_words(F* p, int lanes, int lane, const F (&words)[Words]) {
  for_words<K, Words>(p, lanes, lane, [&](auto w, F* at) {
    Moved<F, K> moved;
    __builtin_memcpy(&moved, words + w, sizeof moved);
    *reinterpret_cast<Moved<F, K>*>(at) = moved;
  });
}

}  // namespace quarkstar::cuda
