#pragma once
// Weights of the paths that make up smeared links (docs/conventions.md, section 5), for links without staggered phases.

namespace quarkstar::smear {

/// A smeared link is the sum of: the link; the 6 three-, 24 five- and 48 seven-link detours around it; the 6 detours of Lepage,
/// two steps aside in one direction and back. Each kind has one weight.
struct PathWeights {
  double one, three, five, seven, lepage;
};

/// First level of HISQ. Weights times numbers of paths sum to 1.
constexpr PathWeights fat7_weights() { return {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0}; }

/// Second level of HISQ for epsilon = 0; epsilon adds epsilon/8 of the link itself.
constexpr PathWeights hisq_weights() { return {1, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8}; }

/// Asqtad: each path weighted by u0^(1 - its number of links).
constexpr PathWeights asqtad_weights(double u0) {
  const double u2 = u0 * u0, u4 = u2 * u2;
  return {5.0 / 8, 1 / (16 * u2), 1 / (64 * u4), 1 / (384 * u4 * u2), -1 / (16 * u4)};
}

/// Weight of the product of three links along a line.
constexpr double hisq_naik_weight(double epsilon) { return -(1 + epsilon) / 24; }
constexpr double asqtad_naik_weight(double u0) { return -1 / (24 * u0 * u0); }

}  // namespace quarkstar::smear
