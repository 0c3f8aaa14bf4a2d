#pragma once
// The other end of a spectrum.
#include "codelets/field/blas.hpp"
#include "solvers/operator_on.hpp"

namespace quarkstar {

/// top - A of a hermitian A: its lowest eigenvalues are those of A's highest. Cost: A's, and two passes over two vectors.
class ReflectedOperator : public OperatorOn {
 public:
  ReflectedOperator(LinearOperator& a, double top) : OperatorOn(a), top_(top) {}

  /// Throws ShapeError for sums or a guard, which eigenvectors do without.
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    if (sums.count() > 0 || guard.state != nullptr) throw ShapeError("ReflectedOperator::apply", "sums or a guard");
    a_.apply(image_, in, {}, false, {});
    blas::submit<blas::Scale>({&out, &in}, {top_});
    blas::submit<blas::AddScaled>({&out, &image_}, {-1.0});
  }

 private:
  double top_;
};

}  // namespace quarkstar
