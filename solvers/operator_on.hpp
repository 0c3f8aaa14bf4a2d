#pragma once
// What is made of another operator.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/field/blas.hpp"

namespace quarkstar {

/// Takes the sums of LinearOperator::apply() over `out` in a pass of their own.
inline void submit_sums(const Field& out, const ApplySums& sums, const runtime::Guard& guard, const runtime::PartialSums* into) {
  if (sums.norm && sums.y != nullptr) blas::submit<blas::NormDot>({&out, sums.y}, {}, guard, into);
  else if (sums.norm) blas::submit<blas::Norm>({&out}, {}, guard, into);
  else if (sums.y != nullptr) blas::submit<blas::Dot>({&out, sums.y}, {}, guard, into);
}

/// An operator on the vectors of another one, a_, and an image of theirs to work with.
class OperatorOn : public LinearOperator {
 public:
  const runtime::PartialSums& sums() const override { return a_.sums(); }
  const LatticePointer& lattice() const override { return a_.lattice(); }
  int parity() const override { return a_.parity(); }
  int components() const override { return a_.components(); }
  int vectors() const override { return a_.vectors(); }

 protected:
  /// a: outlives this.
  explicit OperatorOn(LinearOperator& a) : a_(a), image_(a.field()) {}

  LinearOperator& a_;
  Field image_;
};

}  // namespace quarkstar
