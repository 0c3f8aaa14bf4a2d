#pragma once
// Vector operations on the task graph: blas::submit<Operation>(...) with an operation of operations.hpp.
#include "codelets/field/coefficient.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/operations.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>

namespace quarkstar::blas {

/// Submits one task per block, for every vector that `guard` does not leave out. fields: as Operation::uses lists them, of one lattice,
/// parity and kind; n vectors each, or one, that then serves for all (inputs only). coefficients: constants or arrays of the state. guard:
/// the state that stops it (none: then only constants). partials: where the operation's sums go, sum s of vector v at first_sum + s n + v;
/// where first_sum is not 0 the sums before it stay; those of vectors left out are zero. Cost: Operation::flops a complex component and
/// vector; bytes: every field once for each way it is used. Throws ShapeError when the fields do not belong together.
template <class Operation>
void submit(const std::array<const Field*, field_count<Operation>>& fields,
            const std::array<Coefficient, Operation::coefficients>& coefficients, const runtime::Guard& guard = {},
            const runtime::PartialSums* partials = nullptr, int first_sum = 0);

}  // namespace quarkstar::blas
