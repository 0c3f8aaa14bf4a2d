#pragma once
// Operations on colour vectors on the task graph: staggered::submit<Operation>(...).
#include "codelets/actions/staggered/vector_coefficient.hpp"
#include "codelets/actions/staggered/vector_operations.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar::staggered {

/// Submits one task a block, for every vector that `control` does not leave out. fields: as Operation::uses lists them, of one lattice and
/// parity; n vectors each, or one, that then serves for all (inputs only). partials: where the operation's sums go, sum s of vector v at s
/// n + v; those of vectors left out are zero. Cost: Operation::flops a complex component; bytes: every field once for each way it is used.
/// Throws ShapeError when the fields do not belong together.
template <class Operation>
void submit(const std::array<const ColourField*, blas::field_count<Operation>>& fields,
            const std::array<VectorCoefficient, Operation::coefficients>& coefficients, const Control& control = {},
            const runtime::PartialSums* partials = nullptr);

}  // namespace quarkstar::staggered
