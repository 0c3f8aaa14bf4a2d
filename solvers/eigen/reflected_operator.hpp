#pragma once
// The other end of a spectrum.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/field/blas.hpp"

namespace quarkstar {

/// top - A of a hermitian A: its lowest eigenvalues are those of A's highest. Cost: A's, and two passes over two vectors.
class ReflectedOperator : public LinearOperator {
 public:
  /// a: outlives this.
  ReflectedOperator(LinearOperator& a, double top) : a_(a), top_(top), image_(a.field()) {}

  /// Throws ShapeError for sums or a guard, which eigenvectors do without.
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    if (sums.count() > 0 || guard.state != nullptr) throw ShapeError("ReflectedOperator::apply", "sums or a guard");
    a_.apply(image_, in, {}, false, {});
    blas::submit<blas::Scale>({&out, &in}, {top_});
    blas::submit<blas::AddScaled>({&out, &image_}, {-1.0});
  }
  const runtime::PartialSums& sums() const override { return a_.sums(); }
  const LatticePointer& lattice() const override { return a_.lattice(); }
  int parity() const override { return a_.parity(); }
  int components() const override { return a_.components(); }
  int vectors() const override { return a_.vectors(); }

 private:
  LinearOperator& a_;
  double top_;
  Field image_;  ///< A in
};

}  // namespace quarkstar
