#include "solvers/krylov/krylov.hpp"

#include "solvers/krylov/bicgstab_steps.hpp"
#include "solvers/krylov/block_cg_steps.hpp"
#include "solvers/krylov/cg_steps.hpp"
#include "solvers/krylov/cgnr_steps.hpp"
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {

std::unique_ptr<Recurrence> bicgstab(LinearOperator&, const KrylovLimits&, int);
std::unique_ptr<Recurrence> cg_normal_equations(LinearOperator&, const KrylovLimits&, int);
std::unique_ptr<Recurrence> generalised_conjugate_residual(LinearOperator&, const KrylovLimits&, int);
std::unique_ptr<Recurrence> conjugate_gradient(LinearOperator&, const KrylovLimits&, int);
std::unique_ptr<Recurrence> block_conjugate_gradient(LinearOperator&, const KrylovLimits&, int);
std::unique_ptr<Recurrence> multishift_conjugate_gradient(LinearOperator&, const KrylovLimits&, int);

const std::vector<NamedKrylovSolver>& krylov_solvers() {
  // A place for a refresh that is not due still costs the launches of 12 kernels or more; one that waits for its place costs iterations: of
  // staggered CG 8 take up to 4 % more of them than 4 in half precision, 16 up to 20 %.
  static const std::vector<NamedKrylovSolver> solvers = {
      {.name = "bicgstab", .make = bicgstab, .any_operator = true, .fields = 4, .state_bytes = sizeof(bicgstab_steps::State)},
      {.name = "cgnr", .make = cg_normal_equations, .any_operator = true, .fields = 3, .state_bytes = sizeof(cgnr_steps::State)},
      {.name = "gcr",
       .make = generalised_conjugate_residual,
       .any_operator = true,
       .fields_a_direction = 2,
       .state_bytes = sizeof(gcr_steps::State),
       .state_bytes_a_pair = sizeof(runtime::ComplexScalar),
       .flexible = true},
      {.name = "cg", .make = conjugate_gradient, .refresh_every = 8, .fields = 2, .state_bytes = sizeof(cg_steps::State)},
      {.name = "blockcg",
       .make = block_conjugate_gradient,
       .fields = 2,
       .state_bytes = sizeof(block_cg_steps::State),
       .reliable_updates = false,
       .one_operator = true,
       .mixes_vectors = true},
      {.name = "multishift",
       .make = multishift_conjugate_gradient,
       .fields = 3,
       .state_bytes = sizeof(multishift_cg_steps::State),
       .reliable_updates = false,
       .shifted = true},
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
      if (solver.any_operator == any_operator) names.emplace_back(solver.name);
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
