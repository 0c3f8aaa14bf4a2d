#pragma once
// What a user asks of a solve, and what comes back.
#include "codelets/actions/wilson/parameters.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/field/precision.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quarkstar {

/// How a solve below double precision reaches a double-precision residual: by reliable updates inside one Krylov solve, or by defect
/// correction, a new Krylov solve for each gain that the low precision can give.
enum class Updates { reliable, correction };

/// A fixed number of steps of another solver as the preconditioner of a flexible one (solvers/krylov/fixed_steps.hpp).
struct InnerSolver {
  std::string name;  ///< of solver_names() for the action
  int steps = 4;
};

/// Where multigrid's null vectors are kept beyond a solver; this rank's part of each, in double precision.
struct NullVectorFiles {
  enum class Loaded { none, near, own };  ///< near: of another mass or configuration, to be refreshed
  std::function<Loaded(std::span<HostField> null_vectors)> load{};
  std::function<void(std::span<const HostField> null_vectors)> save{};  ///< those of a set-up that passed its verification
};

/// Adaptive multigrid as the preconditioner of a flexible solver (solvers/multigrid/multigrid.hpp).
struct MultigridSettings {
  Coord aggregate{0, 0, 0, 0};  ///< fine sites of a site of the next level; 0: chosen by the lattice (solvers/multigrid/choice.hpp)
  int levels = 0;               ///< 2 to 4, the finest among them; 0: chosen by the lattice
  int null_vectors = 24;        ///< N, a multiple of 4 up to 32, or of 8 up to 64
  int smoother_steps = 8;       ///< degree of the smoother behind the coarse correction, on the finest level; half of it below
  int cycle_steps = 2;          ///< of GCR with a cycle as its preconditioner, on levels between: 1 is a V-cycle, more a K-cycle
  int coarse_steps = 16;        ///< of GCR on the coarsest level, where that is too large for a dense inverse
  int setup_steps = 24;         ///< of two products with Mh each that make null vectors from noise
  int setup_cycles = 2;         ///< times that the null vectors are improved by a cycle of the multigrid that they make
  bool half_matrices = false;   ///< coarse operators of cycles read matrices in 16 bits; for solves in single precision
  bool fallback = true;         ///< BiCGStab where the set-up fails twice or multigrid stalls; false: an error, or stagnation
  NullVectorFiles files{};      ///< instead of the first steps and cycles of a set-up, with the same bits
  /// Behind the null vectors (0 cycles) and each cycle that improves them, which the set-up waits for where no other solve is in flight.
  /// May throw, on all ranks, to end it.
  std::function<void(int done, int cycles)> progress{};
};

/// A level of a multigrid, the finest first, for reports.
struct MultigridLevel {
  enum class Solver { outer, cycles, gcr, inverse };
  Coord lattice{};
  int components = 0;         ///< of its vectors, per site
  int null_vectors = 0;       ///< 0: the coarsest
  Solver solver{};            ///< the solve itself; GCR with a cycle of this level for each step; GCR alone; a dense inverse
  int steps = 1;              ///< of its solver for one step of the level above
  double cycle_seconds = -1;  ///< of this level in a cycle, per right-hand side of four, each step alone, behind the set-up; -1: not known
};

struct SolverSettings {
  std::string solver = "bicgstab";  ///< a name of solver_names() for the action
  double tolerance = 1e-10;         ///< |b - M x| / |b|, true residual, double precision
  int max_iterations = 10000;       ///< iterations summed over restarts
  Precision precision = Precision::double_;
  int link_reals = 18;  ///< stored reals of a gauge link: 18, 12 or 8
  Updates updates = Updates::reliable;
  double refresh_drop = 0;  ///< Refresh::drop; 0: 0.1 in half, 1e-3 in single precision
  Schur schur = Schur::asymmetric;
  int check_every = 16;                          ///< K: iterations submitted between two looks at the stop flag
  int recycle = 0;                               ///< low modes that solves gather for later ones (RecycledSpace); 0: none
  int restart = 8;                               ///< gcr: directions kept, KrylovLimits::restart
  std::optional<SchwarzSettings> schwarz{};      ///< gcr: its preconditioner; none: none
  std::optional<InnerSolver> inner{};            ///< gcr: its preconditioner, instead
  std::optional<MultigridSettings> multigrid{};  ///< gcr: its preconditioner, instead
  int in_flight = 1;  ///< solves on the graph together (runtime/graph/turns.hpp): what the memory of a solve is worked out for
  bool keep_history = false;
  bool snapshots = false;  ///< solutions are copied while they are improved: the memory for that is counted
  bool tune = true;        ///< measure speed settings that are not in the tune cache yet; false: fixed rules. No bit depends on it
};

/// Throws Error(input) where tolerance, max_iterations, check_every, restart or the preconditioner's steps make no sense.
void check_limits(const SolverSettings& settings);

/// Why a solve ended.
enum class StopReason { running, converged, zero_denominator, not_finite, stagnation, iteration_limit, interrupted };
const char* describe(StopReason reason);

struct SolveResult {
  StopReason reason = StopReason::running;
  int iterations = 0;        ///< summed over restarts
  int restarts = 0;          ///< outer corrections beyond the first solve
  int by_multigrid = 0;      ///< of the iterations those with multigrid, behind which a fallback may have gone on
  int refreshes = 0;         ///< reliable updates, to any right-hand side that advanced with this one
  double true_residual = 0;  ///< |b - M x| / |b| recomputed in double on the whole lattice
  double seconds = 0;  ///< wall time of the solve, sources and links already in place; like the next six an equal share of right-hand sides
                       ///< solved together
  double flops = 0, bytes = 0;           ///< of the tasks that ran, each counted for all right-hand sides until the last of them stops
  std::int64_t kernels = 0;              ///< codelets that ran, up to the stop
  double tasks = 0;                      ///< StarPU's, a fused batch being one, with those that found the graph stopped
  double busy_us = 0;                    ///< that this rank's workers spent in them; 0 where other solves were in flight
  std::vector<double> midpoint{};        ///< PhysicalFields::midpoint(), where there is a fifth dimension
  std::vector<double> residual_history;  ///< |r| / |b| of the even-odd system after each iteration (keep_history)
  bool converged() const { return reason == StopReason::converged; }
};

/// Called from the main thread every few iterations: iterations so far, the largest |r| / |b| now. Return false to interrupt,
/// on all ranks where one does; no collective calls inside.
using Progress = std::function<bool(int iterations, double relative_residual)>;

struct SolveState;  // solvers/solve_state.hpp

/// Copies of solutions that are still being improved, for restart files. take gets this rank's part of each last iterate (below double
/// precision that of the last reliable update), and the iterations that each has taken; due is asked at every look at the stop flag, on all
/// ranks alike.
struct Snapshots {
  std::function<bool(int iterations)> due;
  std::function<void(std::span<const HostField> solutions, std::span<const int> iterations)> take;
  std::function<void(const SolveState& state)> take_state{};  ///< is called in place of take, where there is one
};

/// Names that SolverSettings::solver takes for actions whose even-odd system is hermitian and positive, or is not.
const std::vector<std::string>& solver_names(bool hermitian);

}  // namespace quarkstar
