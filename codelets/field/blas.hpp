#pragma once
// Vector operations on the task graph: blas::submit<Operation>(...) with an operation of operations.hpp.
#include "codelets/field/fields.hpp"
#include "codelets/field/operations.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>

namespace quarkstar::blas {

/// Submits one task a block. fields: as Operation::uses lists them, of one lattice and parity; coefficients: constants or members
/// of the state. guard: the state that stops it (none: then only constants). partials: where the operation's sums go,
/// one task a block, from first_sum on; where that is not 0 the sums before it stay. Cost: Operation::flops a complex component; bytes:
/// every field once for each way it is used. Throws ShapeError when the fields do not belong together.
template <class Operation>
void submit(const std::array<const SpinorField*, field_count<Operation>>& fields,
            const std::array<runtime::Coefficient, Operation::coefficients>& coefficients, const runtime::Guard& guard = {},
            const runtime::PartialSums* partials = nullptr, int first_sum = 0);

}  // namespace quarkstar::blas
