#pragma once
// A linear operator on the task graph, as the Krylov solvers see it.
#include "codelets/field/fields.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar {

/// Sums taken over A in on its way out: |out|^2 and/or <y, out>.
struct ApplySums {
  bool norm = false;
  const SpinorField* y = nullptr;
  int count() const { return (norm ? 1 : 0) + (y != nullptr ? 2 : 0); }
};

/// Everything submits tasks and returns; nothing waits.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// out = A in, or A^+ in. The sums are those of the last call, in the order |out|^2, Re <y, out>, Im <y, out>.
  virtual void apply(const SpinorField& out, const SpinorField& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) = 0;
  virtual const runtime::PartialSums& sums() const = 0;

  virtual const LatticePointer& lattice() const = 0;
  virtual int parity() const = 0;
};

/// A^+ A, hermitian and positive, for solvers that need that.
class NormalOperator : public LinearOperator {
 public:
  explicit NormalOperator(LinearOperator& a) : a_(a), image_(a.lattice(), a.parity()) {}
  void apply(const SpinorField& out, const SpinorField& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    a_.apply(image_, in, {}, false, guard);
    a_.apply(out, image_, sums, true, guard);
  }
  const runtime::PartialSums& sums() const override { return a_.sums(); }
  const LatticePointer& lattice() const override { return a_.lattice(); }
  int parity() const override { return a_.parity(); }

 private:
  LinearOperator& a_;
  SpinorField image_;
};

}  // namespace quarkstar
