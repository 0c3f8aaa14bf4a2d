#pragma once
// Even-odd (Schur) preconditioning of the Wilson operator.
#include "codelets/actions/wilson/hopping.hpp"
#include "solvers/krylov/linear_operator.hpp"
#include "solvers/settings.hpp"

namespace quarkstar {

/// The Wilson matrix M = a - h H on both parities, and its Schur complement on the odd sites,
///   asymmetric:  Mh = a - (h^2 / a) H_oe H_eo,   right-hand side  b_o + (h / a) H_oe b_e,
///   symmetric:   Mh = 1 - (h / a)^2 H_oe H_eo,   right-hand side (b_o + (h / a) H_oe b_e) / a,
/// with x_e = (b_e + h H_eo x_o) / a in both cases. kappa normalisation: a = 1, h = kappa; mass normalisation: a = m0 +
/// 4, h = 1/2. Cost of Mh: two hopping terms (2640 flop and 16 links a site of one parity). Source:
/// docs/conventions.md, section 3.
class EvenOddWilson : public LinearOperator {
 public:
  static constexpr int solved_parity = 1;

  EvenOddWilson(wilson::Hopping& hopping, const WilsonParameters& parameters, Schur schur);

  void apply(const SpinorField& out, const SpinorField& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return hopping_.sums(); }
  const LatticePointer& lattice() const override { return hopping_.lattice(); }
  int parity() const override { return solved_parity; }

  /// rhs = right-hand side of the Schur system from both parities of b.
  void prepare(const SpinorField& rhs, const SpinorField& even, const SpinorField& odd);
  /// x_even = (b_even + h H x_odd) / a.
  void reconstruct(const SpinorField& x_even, const SpinorField& b_even, const SpinorField& x_odd);
  /// out (parity of `same`) = h H other - a same: adding b gives that parity of the residual b - M x.
  void minus_m(const SpinorField& out, const SpinorField& same, const SpinorField& other);
  /// |residual of M x = b| / |residual of the Schur system|, exact when x_even has been reconstructed.
  double residual_scale() const { return schur_ == Schur::symmetric ? a_ : 1; }

  /// Mh = diagonal() + hops() H_oe H_eo.
  double diagonal() const { return schur_ == Schur::symmetric ? 1 : a_; }
  double hops() const { return -h_ * h_ / (schur_ == Schur::symmetric ? a_ * a_ : a_); }

 private:
  wilson::Hopping& hopping_;
  double a_, h_;
  Schur schur_;
  SpinorField even_;  ///< H_eo in
};

}  // namespace quarkstar
