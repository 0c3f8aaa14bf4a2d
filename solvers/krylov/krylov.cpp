#include "solvers/krylov/krylov.hpp"

#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {

const std::vector<NamedKrylovSolver>& krylov_solvers() {
  static const std::vector<NamedKrylovSolver> solvers{
#define QUARKSTAR_KRYLOV_SOLVER(name) name##_solver(),
#include "solvers/krylov/solvers.inc"
#undef QUARKSTAR_KRYLOV_SOLVER
  };
  return solvers;
}

const NamedKrylovSolver* find_krylov_solver(std::string_view name) {
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.name == name) return &solver;
  return nullptr;
}

KrylovResults solve_by(MakeRecurrence make, LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                       const KrylovProgress& progress) {
  return make(a, limits, x.vectors())->solve(x, r, progress);
}

const std::vector<std::string>& solver_names(bool hermitian) {
  static const auto names_of = [](bool any_operator) {
    std::vector<std::string> names;
    for (const NamedKrylovSolver& solver : krylov_solvers())
      if (solver.any_operator == any_operator && !solver.multigrid) names.emplace_back(solver.name);
    return names;
  };
  static const std::vector<std::string> of_any = names_of(true), of_hermitian = names_of(false);
  return hermitian ? of_hermitian : of_any;
}

const char* describe(StopReason reason) {
  switch (reason) {
    case StopReason::running:
      return "still running";
    case StopReason::converged:
      return "converged";
    case StopReason::zero_denominator:
      return "breakdown: a denominator became zero";
    case StopReason::not_finite:
      return "breakdown: NaN or infinity";
    case StopReason::stagnation:
      return "stagnation: the residual no longer falls";
    case StopReason::iteration_limit:
      return "iteration limit reached";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace quarkstar
