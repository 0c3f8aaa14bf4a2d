#pragma once
// gamma_5 M on all sites.
#include "codelets/actions/linear_operator.hpp"

namespace quarkstar {

/// H = gamma_5 M, hermitian and indefinite, on fields of both parities, M being the matrix of an even-odd system `m` of spinors for one
/// mass, which must outlive it and be gamma_5-hermitian: gamma_5 M gamma_5 = M^+. Its squared is M^+ M. Cost: twice the hops of one parity
/// to the other, and two passes over the vectors from and to those of single parities, of which it holds two.
class Gamma5Operator : public LinearOperator {
 public:
  /// Throws ShapeError unless vectors are spinors in double precision.
  explicit Gamma5Operator(EvenOdd& m);

  /// Throws ShapeError for sums or a guard, which eigenvectors do without.
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return m_.sums(); }
  const LatticePointer& lattice() const override { return m_.lattice(); }
  int parity() const override { return both_parities; }
  int components() const override { return m_.components(); }
  int vectors() const override { return m_.vectors(); }

 private:
  EvenOdd& m_;
  FullField parts_, image_;  ///< in; M in
};

}  // namespace quarkstar
