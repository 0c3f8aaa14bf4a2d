#pragma once
// M^+ M + shift.
#include "codelets/lattice/placement.hpp"
#include "solvers/squared_system.hpp"

namespace quarkstar {

/// A_v = M^+ M + shift_v. Cost: twice the operator's, and one or two passes over the vectors.
class ShiftedSystem : public SquaredSystem {
 public:
  /// m: outlives this.
  ShiftedSystem(LinearOperator& m, const PerVector& shifts)
      : SquaredSystem(m), shifts_(shifts), sums_(partial_sums_on(*m.lattice(), 3 * m.vectors())) {}

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override {
    SquaredSystem::apply(out, in, {}, adjoint, guard);
    blas::submit<blas::AddScaled>({&out, &in}, {shifts_}, guard);
    submit_sums(out, sums, guard, &sums_);
  }
  const runtime::PartialSums& sums() const override { return sums_; }

 private:
  PerVector shifts_;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar
