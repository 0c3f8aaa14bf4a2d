#pragma once
// Which solvers serve which action and settings.
#include "codelets/actions/action.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/settings.hpp"

#include <span>

namespace quarkstar {

/// The solver that the settings name. Throws Error(input) where there is none, where it does not serve the action, and for preconditioners
/// that do not go with it or with each other.
const NamedKrylovSolver& solver_for(const Action& action, const SolverSettings& settings);

/// Conjugate gradient for operators that are hermitian and positive, or for any: it corrects what a solver of shifted systems leaves.
const NamedKrylovSolver& conjugate_gradients(bool hermitian);
/// That of many shifts from one Krylov space.
const NamedKrylovSolver& shifted_solver();

/// How many right-hand sides can be in lanes (Speed::vectors_in_lanes) of a solver whose solves are for vectors[0], vectors[1], ...
/// right-hand sides, so that each solve fills whole groups. Colour vectors (`components`): 16 or 8 for `cg`, links of 18 reals, no GPU on
/// any rank, registers that hold several numbers. Spinors: 16, 12 or 8 for links of 18 or 12 reals where every rank computes on GPUs alone,
/// not in half precision, with Schwarz domains or multigrid, or for solvers that mix vectors; with slices of a fifth dimension, of which
/// lanes hold all of one right-hand side, as many as these are. Else 1. All ranks must call.
int most_vectors_in_lanes(int components, const SolverSettings& settings, std::span<const int> vectors, int slices = 1);
/// How many should be, of a solver on this decomposition: where a solve is faster with them. Spinors: where one GPU works alone on a
/// lattice that nothing cuts. All ranks must call.
int vectors_in_lanes_for(const runtime::Decomposition& decomposition, int components, int slices, const SolverSettings& settings,
                         std::span<const int> vectors);

/// Throws Error(input) naming `recycle` where modes are to be gathered and the solver that the settings name gathers none, or multigrid
/// leaves none.
void require_recyclable(const SolverSettings& settings, bool hermitian);

/// Throws Error(input) where a projector cannot serve: naming `precision` as `blockcg` in half precision loses what it knows again in each
/// correction, naming `recycle` as solves have one of their own.
void require_deflatable(const SolverSettings& settings);

}  // namespace quarkstar
