#pragma once
// What is made of another operator.
#include "codelets/actions/linear_operator.hpp"

namespace quarkstar {

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
