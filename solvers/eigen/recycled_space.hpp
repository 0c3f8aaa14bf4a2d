#pragma once
// What conjugate gradient solves leave behind of an operator for the right-hand sides after them.
#include "solvers/eigen/basis.hpp"
#include "solvers/projector.hpp"

#include <optional>
#include <vector>

namespace quarkstar {

/// A space V rich in low modes of a hermitian positive A, gathered from solutions in the making, and the inverse of A on it (Galerkin):
/// out = V (V^+ (A + shift) V)^-1 V^+ in. Of A = M^+ M and in = M^+ r that is V (W^+ W)^-1 W^+ r, W = M V: the x of V with the least
/// |r - M x|. What an iterate of a Krylov solver gains in some iterations is A's inverse, or M's, on the modes that these resolve: a mode
/// comes in with its weight over lambda, the lowest ones most of all. Where V has grown to twice N vectors, by Rayleigh and Ritz the N of
/// the lowest values stay. Modes that are only nearly right leave a part of the residual, which further corrections take out. Bits depend
/// on what is added, in its order and grouping; not on cut, policy, device or ranks. Cost: add() 16 flop per site, component, vector of V
/// and vector that is added; Rayleigh and Ritz 16 N^2 per site and component. Memory: V and, while it shrinks, N vectors more. Sources: A.
/// Stathopoulos and K. Orginos, arXiv:0707.0131 (incremental eigCG, which keeps Lanczos vectors of each right-hand side); M. L. Parks et
/// al., SIAM J. Sci. Comput. 28 (2006) 1651 (GCRO-DR); P. F. Fischer, Comput. Methods Appl. Mech. Engrg. 163 (1998) 193 (projection on
/// earlier solutions).
class RecycledSpace : public Projector {
 public:
  /// On a lattice in double precision. modes: N, from least_modes to most_modes, else ShapeError.
  RecycledSpace(const LatticePointer& lattice, int parity, int components, int modes);

  /// most_modes: Rayleigh and Ritz take 1 s on one core at 128, and eight times as long for twice as many.
  static constexpr int least_modes = 8, most_modes = 128;
  /// Vectors that are in memory at the peak, where n are added at a time.
  static int most_vectors_for(int modes, int n);
  /// Bytes that the host has besides: matrices of products, and how many of these sums are on each block.
  static double matrix_bytes(int modes, int n);
  static double sums_on_a_block(int modes, int n);

  bool is_empty() const { return basis_.count() == 0; }
  /// V grows by the vectors d, of any length; images: A d. What is not finite, or zero, is left out. Waits.
  void add(const Field& d, const Field& images);
  /// Ritz values, ascending.
  std::vector<double> values() const;

  int parity() const override { return basis_.parity(); }
  void apply(const Field& out, const Field& in, const PerVector& shifts, bool exact = false) const override;
  double gain2([[maybe_unused]] bool exact = false) const override { return 1e-4; }

 private:
  struct Ritz {
    std::vector<double> values;  ///< ascending
    SmallMatrix vectors;         ///< columns: orthonormal combinations of V
  };
  const Ritz& ritz() const;
  Ritz computed_ritz() const;
  void shrink();

  int modes_;
  Basis basis_;
  SmallMatrix gram_, images_;         ///< V^+ V, V^+ A V
  mutable std::optional<Ritz> ritz_;  ///< until V changes: once gathering has ended it serves every correction
};

}  // namespace quarkstar
