#pragma once
// A hermitian positive operator on several colour vectors at once, as the Krylov solvers for many right-hand sides see it.
#include "codelets/actions/staggered/colour_field.hpp"
#include "codelets/actions/staggered/vector_status.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar {

/// Everything submits tasks and returns; nothing waits. A_v may differ from vector to vector.
class VectorOperator {
 public:
  virtual ~VectorOperator() = default;

  /// out_v = A_v in_v, and with `dot` the sums <in_v, A_v in_v>, real.
  virtual void apply(const staggered::ColourField& out, const staggered::ColourField& in, bool dot, const staggered::Control& control) = 0;
  virtual const runtime::PartialSums& sums() const = 0;

  virtual const LatticePointer& lattice() const = 0;
  virtual int parity() const = 0;
  virtual int vectors() const = 0;
};

}  // namespace quarkstar
