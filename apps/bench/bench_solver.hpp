#pragma once
// Times Krylov iterations as a solve runs them: mixed precision, reliable updates, through the task graph.
#include "apps/bench/extra_solves.hpp"
#include "runtime/backend.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/observe/worker_times.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct SolverTiming {
  int iterations = 0;                 ///< of the last timed solve
  int refreshes = 0;                  ///< reliable updates in it; their time is in that of the iterations
  double best_us = 0, median_us = 0;  ///< wall time of a solve over its iterations, of all right-hand sides together
  double flops = 0, bytes = 0;        ///< of one iteration, without refreshes
  double tasks = 0, kernels = 0;      ///< of one iteration, without refreshes (Wilson): StarPU's tasks, and the codelets in them
  double us_per_task = 0;             ///< wall time of the owners outside StarPU's tasks, per task
  double bound_us = 0;  ///< no schedule of these tasks on these workers is faster (solve_bound.hpp), per iteration; 0: not asked for

  struct WorkerProfile {
    std::string name;
    bool cuda = false;
    runtime::WorkerTimes times;  ///< of a whole solve
  };
  std::vector<WorkerProfile> workers;  ///< empty: not asked for
  std::vector<runtime::LinkTraffic> links;

  /// Where ranks are simulated: the last timed solve's batches.
  std::optional<runtime::backend::RankBatches> on_ranks;

  /// Time in tasks, per iteration and owner, with refreshes. Not known (has_parts false) for several GPUs, whose tasks are asynchronous.
  bool has_parts = false;
  double dslash_us = 0, blas_us = 0, scalars_us = 0, conversion_us = 0;
  /// Wall time outside tasks.
  double runtime_us() const { return std::max(0.0, median_us - dslash_us - blas_us - scalars_us - conversion_us); }
  double runtime_us_per_kernel() const { return kernels > 0 ? runtime_us() / kernels : 0; }
};

/// Fills in the times in tasks from one more call of solve(), where they can be known; `decomposition`: of the fields that it works on.
/// The session's events are empty afterwards.
void time_parts(SolverTiming& timing, runtime::Session& session, const runtime::Decomposition& decomposition,
                const std::function<void()>& solve);

/// Solves once and calls begins() where the time that is told begins: what comes before is not to be watched either.
using WatchedSolve = std::function<void(const std::function<void()>& begins)>;

/// Calls solve() once more for each thing that is asked for. bytes(): what the last solve moved since it began. The session's events are
/// empty after a trace.
void run_extra_solves(const ExtraSolves& extra, SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve,
                      const std::function<double()>& bytes);

}  // namespace quarkstar::app
