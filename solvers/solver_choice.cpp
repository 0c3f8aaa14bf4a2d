#include "solvers/solver_choice.hpp"

#include "codelets/arch/dispatch.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar {

const NamedKrylovSolver& solver_for(const Action& action, const SolverSettings& settings) {
  const NamedKrylovSolver* solver = find_krylov_solver(settings.solver);
  const std::vector<std::string>& names = solver_names(action.is_hermitian());
  if (solver == nullptr)
    throw Error(ErrorKind::input, Parameter("solver"), fmt::format("unknown solver '{}'", settings.solver),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  for (const auto& [parameter, given] : {std::pair{"schwarz-block", settings.schwarz.has_value()},
                                         {"inner-solver", settings.inner.has_value()},
                                         {"aggregate", settings.multigrid.has_value()}})
    if (given && !solver->flexible)
      throw Error(ErrorKind::input, Parameter(parameter),
                  fmt::format("the preconditioner differs from one application to the next, and {} cannot do with that", settings.solver),
                  "use the solver gcr");
  if (settings.inner) {
    if (settings.schwarz)
      throw Error(ErrorKind::input, Parameter("inner-solver"), "there is a preconditioner already, schwarz-block", "give one of them");
    const NamedKrylovSolver* inner = find_krylov_solver(settings.inner->name);
    if (inner == nullptr || !inner->can_be_inner() || std::find(names.begin(), names.end(), settings.inner->name) == names.end())
      throw Error(ErrorKind::input, Parameter("inner-solver"), fmt::format("'{}' is no inner solver for this action", settings.inner->name),
                  fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  if (settings.multigrid) {
    if (settings.schwarz || settings.inner)
      throw Error(ErrorKind::input, Parameter("aggregate"),
                  fmt::format("there is a preconditioner already, {}", settings.schwarz ? "schwarz-block" : "inner-solver"),
                  "give one of them");
    if (action.components() != spinor_components)
      throw Error(ErrorKind::input, Parameter("aggregate"), "multigrid is for Wilson-type actions", "leave it out");
  }
  const bool listed = solver->multigrid ? !action.is_hermitian() : std::find(names.begin(), names.end(), settings.solver) != names.end();
  if (!solver->shifted && !listed)
    throw Error(ErrorKind::input, Parameter("solver"),
                action.is_hermitian()
                    ? fmt::format("'{}' is no solver for this action, whose even-odd system is hermitian and positive", settings.solver)
                    : fmt::format("'{}' needs a hermitian positive operator, which this action's is not", settings.solver),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  return *solver;
}

const NamedKrylovSolver& conjugate_gradients(bool hermitian) {
  static const NamedKrylovSolver of_hermitian = cg_solver(), of_any = cgnr_solver();
  return hermitian ? of_hermitian : of_any;
}

const NamedKrylovSolver& shifted_solver() { return *std::ranges::find_if(krylov_solvers(), &NamedKrylovSolver::shifted); }

int most_vectors_in_lanes(int components, const SolverSettings& settings, std::span<const int> vectors, int slices) {
  if constexpr (!runtime::backend::computes) return 1;  // speeds of machine files are those of lanes of sites
  const runtime::Session& session = runtime::Session::current();
  const bool spinors = components == spinor_components;
  const NamedKrylovSolver& solver = *find_krylov_solver(settings.solver);
  // A RecycledSpace, Schwarz domains, aggregates and products of all vectors with all have lanes of sites.
  if (settings.recycle > 0 || settings.schwarz || settings.multigrid || solver.mixes_vectors) return 1;
  const bool elsewhere =
      spinors ? session.gpu_count() == 0 || session.cpus_join() : session.gpu_count() > 0 || arch::name_of(arch::current()) == "scalar";
  if (runtime::mpi::Job::current().any(elsewhere)) return 1;
  const auto fill = [&](int lanes) { return std::all_of(vectors.begin(), vectors.end(), [lanes](int n) { return n % lanes == 0; }); };
  if (spinors) {
    if (settings.link_reals == 8 || settings.precision == Precision::half) return 1;
    if (slices > 1) return slices == 16 || slices == 12 || slices == 8 ? slices : 1;
    if (solver.shifted) return 1;  // its Krylov space is of one vector
    for (const int lanes : {16, 12, 8})
      if (fill(lanes)) return lanes;
    return 1;
  }
  if (!solver.vectors_in_lanes || settings.link_reals != 18) return 1;
  for (const int lanes : {16, 8}) {
    const bool fit_a_line = lanes * computed_bytes(settings.precision) <= 64;  // of double precision 8, as Lattice has them
    if (fit_a_line && fill(lanes)) return lanes;
  }
  return 1;
}

int vectors_in_lanes_for(const runtime::Decomposition& decomposition, int components, int slices, const SolverSettings& settings,
                         std::span<const int> vectors) {
  const int most = most_vectors_in_lanes(components, settings, vectors, slices);
  if (settings.precision == Precision::half) return 1;  // slower: docs/results/2026-11-23-vectors-in-lanes.md
  if (components != spinor_components) return most;
  if (decomposition.count() > 1) return 1;  // kernels with edges are slower so
  // Faster: docs/results/2026-12-01-h200-marches.md, and in single precision docs/results/2026-12-01-h200-bicgstab.md.
  return slices > 1 || settings.precision == Precision::single ? most : 1;
}

void require_recyclable(const SolverSettings& settings, bool hermitian) {
  if (settings.recycle == 0) return;
  const NamedKrylovSolver& solver = *find_krylov_solver(settings.solver);
  if (!solver.pauses)
    throw Error(ErrorKind::input, Parameter("recycle"), fmt::format("{} gathers no modes", solver.name),
                fmt::format("use the solver {}, or leave it out", conjugate_gradients(hermitian).name));
  if (settings.multigrid)
    throw Error(ErrorKind::input, Parameter("recycle"), "multigrid leaves no low modes to gather",
                "leave out one of recycle and aggregate");
}

void require_deflatable(const SolverSettings& settings) {
  const NamedKrylovSolver* const solver = find_krylov_solver(settings.solver);
  if (settings.recycle > 0)
    throw Error(ErrorKind::input, Parameter("recycle"), "solves begin with modes that they gather, and eigenvectors are given",
                "leave it out, or give no eigenvectors");
  if (solver != nullptr && solver->mixes_vectors && settings.precision == Precision::half)
    throw Error(ErrorKind::input, Parameter("precision"),
                fmt::format("{} in half precision loses known modes again in each correction, and may not converge", settings.solver),
                "use single precision, or the solver cg");
}

}  // namespace quarkstar
