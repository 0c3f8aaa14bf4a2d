#pragma once
// M^+ M.
#include "solvers/operator_on.hpp"

namespace quarkstar {

/// A = M^+ M, hermitian and positive: Mh^+ Mh of an even-odd system, or H^2 of a hermitian operator. Cost: twice the operator's.
class SquaredSystem : public OperatorOn {
 public:
  explicit SquaredSystem(LinearOperator& m) : OperatorOn(m) {}

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    a_.apply(image_, in, {}, false, guard);
    a_.apply(out, image_, sums, true, guard);
  }
};

}  // namespace quarkstar
