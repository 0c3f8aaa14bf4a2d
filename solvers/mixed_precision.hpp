#pragma once
// One system, solved by a Krylov method below double precision and held to account in double.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar {

/// y = solution of A y = rhs, from y = 0, to |rhs - A y|^2 <= limits.target_norm2 or, without reliable updates, as far
/// as the inner precision goes. outer: A in double precision; inner: A in single or half. |rhs|^2 is about rhs_norm2.
/// Overwrites rhs. settings: which updates, and when. limits.patience and limits.refresh are set here.
KrylovResult solve_below_double(LinearOperator& outer, LinearOperator& inner, KrylovSolver krylov, const SolverSettings& settings,
                                const SpinorField& y, const SpinorField& rhs, KrylovLimits limits, double rhs_norm2,
                                const KrylovProgress& progress);

}  // namespace quarkstar
