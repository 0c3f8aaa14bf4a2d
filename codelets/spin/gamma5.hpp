#pragma once
// gamma_5 on the task graph.
#include "codelets/field/field.hpp"

namespace quarkstar {

/// Submits out = gamma_5 in on the sites of in's parity, gamma_5 = diag(1, 1, -1, -1) in the DeGrand-Rossi basis (docs/conventions.md,
/// section 1): two fields of n spinors in double precision, out on all sites. The even half must come first: it makes the other one
/// undefined. Cost: no flop, a pass over both. Same bits on every device. Throws ShapeError for other fields.
void apply_gamma5(const Field& out, const Field& in);

}  // namespace quarkstar
