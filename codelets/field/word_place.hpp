#pragma once
// Where the words of a site or link are stored: one rule for host code and GPU kernels.
#include "codelets/field/number_format.hpp"
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::site {

/// Words of a site before its components: the unit, in half precision.
template <class F>
inline constexpr int head_words = is_half<F> ? 1 : 0;

/// Words of a lane in a chunk, for sites or links that have so many: as many as 16 bytes hold and divide them. A GPU reads a chunk with one
/// load, and half as many and longer rows of L2 for as many bytes (one H200, Wilson's hopping term: 5 to 25 % faster; docs/results).
template <class F>
QUARKSTAR_HD constexpr int chunk_words(int words) {
  int chunk = 16 / static_cast<int>(sizeof(F));
  while (words % chunk != 0) chunk /= 2;
  return chunk;
}

/// Place of word w of one lane in a site or link of so many lanes: [word][lane] of the head words, then [chunk][lane][word of the chunk].
QUARKSTAR_HD constexpr int word_place(int w, int lane, int lanes, int chunk, int head = 0) {
  if (w < head) return w * lanes + lane;
  const int after = w - head;
  return (head + after / chunk * chunk) * lanes + lane * chunk + after % chunk;
}

}  // namespace quarkstar::site
