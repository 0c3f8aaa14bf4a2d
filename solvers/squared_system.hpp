#pragma once
// M^+ M.
#include "codelets/actions/linear_operator.hpp"

namespace quarkstar {

/// A = M^+ M, hermitian and positive: Mh^+ Mh of an even-odd system, or H^2 of a hermitian operator. Cost: twice the operator's.
class SquaredSystem : public LinearOperator {
 public:
  /// m: outlives this.
  explicit SquaredSystem(LinearOperator& m) : m_(m), image_(m.field()) {}

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    m_.apply(image_, in, {}, false, guard);
    m_.apply(out, image_, sums, true, guard);
  }
  const runtime::PartialSums& sums() const override { return m_.sums(); }
  const LatticePointer& lattice() const override { return m_.lattice(); }
  int parity() const override { return m_.parity(); }
  int components() const override { return m_.components(); }
  int vectors() const override { return m_.vectors(); }

 private:
  LinearOperator& m_;
  Field image_;  ///< M in
};

}  // namespace quarkstar
