#pragma once
// Coarse vectors that blocks have in pieces, joined on one worker: what kernels are given, and what they do for one word.
#include "codelets/arch/unroll.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar::coarse {

/// Pieces that one task joins.
inline constexpr int most_joined_pieces = 64;

template <class F>
struct JoinArguments {
  F* out[2];                            ///< of even and odd sites
  const F* pieces[most_joined_pieces];  ///< each the vectors of its even sites, then of its odd ones
  const std::uint32_t* from;            ///< [site] piece << 24 | number of the site in it
  const std::uint32_t* to;              ///< [site] 2 outer site + parity
  std::int32_t sites, words;            ///< sites of all these pieces; words of the vectors of a site, which lie side by side
};
inline constexpr int site_bits = 24;

template <class F>
QUARKSTAR_HD void join_word(const JoinArguments<F>& a, std::size_t site, int word) {
  const std::uint32_t from = a.from[site], to = a.to[site];
  const std::size_t in_piece = from & ((1u << site_bits) - 1);
  const auto words = static_cast<std::size_t>(a.words), w = static_cast<std::size_t>(word);
  a.out[to & 1][(to >> 1) * words + w] = a.pieces[from >> site_bits][in_piece * words + w];
}

}  // namespace quarkstar::coarse
