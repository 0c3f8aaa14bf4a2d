#pragma once
// Sites and links whose words lie in chunks of K, as lattices that only GPUs own may store them: a thread moves a chunk of its lane in one
// instruction.
#include "codelets/arch/cuda.cuh"
#include "codelets/field/chunks.hpp"

namespace quarkstar::cuda {

/// What a thread loads or stores at once.
template <int Bytes>
using Bits = std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 8, uint2, uint4>>;

/// words = those of one lane of the site or link at p, which begins with its first lane. Loads: CachedLoads, ...
template <int K, class Loads, class F, int Words>
__device__ __forceinline__ void load_words(F (&words)[Words], const F* p, int lanes, int lane) {
  constexpr int single = Words % K;
  const F* alone = p + lane;
  const F* chunks = p + single * lanes + lane * K;
  const auto load = [&](F* to, const F* from, auto count) {
    using Chunk = Bits<count * sizeof(F)>;
    const Chunk chunk = Loads::bits(reinterpret_cast<const Chunk*>(from));
    __builtin_memcpy(to, &chunk, sizeof chunk);
  };
  site::unroll<single>([&](auto w) { load(words + w, alone + w * lanes, site::Index<1>{}); });
  site::unroll<Words / K>([&](auto c) { load(words + single + c * K, chunks + c * K * lanes, site::Index<K>{}); });
}

/// The inverse.
template <int K, class F, int Words>
__device__ __forceinline__ void store_words(F* p, int lanes, int lane, const F (&words)[Words]) {
  constexpr int single = Words % K;
  F* alone = p + lane;
  F* chunks = p + single * lanes + lane * K;
  const auto store = [&](F* to, const F* from, auto count) {
    using Chunk = Bits<count * sizeof(F)>;
    Chunk chunk;
    __builtin_memcpy(&chunk, from, sizeof chunk);
    *reinterpret_cast<Chunk*>(to) = chunk;
  };
  site::unroll<single>([&](auto w) { store(alone + w * lanes, words + w, site::Index<1>{}); });
  site::unroll<Words / K>([&](auto c) { store(chunks + c * K * lanes, words + single + c * K, site::Index<K>{}); });
}

}  // namespace quarkstar::cuda
