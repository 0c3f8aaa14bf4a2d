#include "solvers/krylov/krylov.hpp"

namespace quarkstar {

const std::vector<NamedKrylovSolver>& krylov_solvers() {
  static const std::vector<NamedKrylovSolver> solvers = {
      {"bicgstab", bicgstab, true, 4},
      {"cgnr", cg_normal_equations, true, 3},
      {"gcr", generalised_conjugate_residual, true, 0, 2, true},
      {"cg", conjugate_gradient, false, 2},
  };
  return solvers;
}

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const NamedKrylovSolver& solver : krylov_solvers())
      if (solver.any_operator) list.emplace_back(solver.name);
    return list;
  }();
  return names;
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
