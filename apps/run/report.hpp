#pragma once
// Everything that the outputs of a solve tell: filled while it runs, then written as JSON, HDF5, HTML and text.
#include "apps/run/config.hpp"
#include "apps/run/device_plan.hpp"
#include "apps/run/memory_check.hpp"
#include "codelets/contract/propagator.hpp"
#include "codelets/gauge/summary.hpp"
#include "runtime/graph/codelet_kind.hpp"
#include "runtime/observe/energy.hpp"
#include "runtime/observe/worker_times.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Lower bounds on the time of a solve (apps/run/solve_bound.hpp), and the time over the largest of them.
struct BoundReport {
  double bandwidth_seconds = 0, critical_path_seconds = 0, assignment_seconds = 0;
  double owners_seconds = 0;        ///< 0: the policy places tasks elsewhere, too
  double time_over_bound = 0;       ///< 0: nothing was measured
  std::vector<double> workers_gbs;  ///< in tasks, by worker; 0: it had none
};

/// One column of the propagator, column = 3 spin + colour of its source (staggered: its colour). Of right-hand sides that were solved
/// together each has an equal share of time and energy.
struct ColumnReport {
  int column = 0;
  SolveResult result;
  runtime::Energy energy{{0, "not measured"}, {0, "not measured"}};  ///< of the machine while this column was solved
  std::optional<double> mass = {};                                   ///< staggered
  double gflops() const { return result.seconds > 0 ? result.flops / result.seconds * 1e-9 : 0; }
  double gbs() const { return result.seconds > 0 ? result.bytes / result.seconds * 1e-9 : 0; }
  std::optional<double> idle_us =
      {};  ///< time of the owners outside StarPU's tasks, a task; none where solves of several sources were in flight
  std::optional<BoundReport> bound = {};  ///< with --bound: of all that were solved together
  /// StarPU's tasks (a batch of iterations may be one), and codelets.
  double tasks_per_iteration() const { return result.iterations > 0 ? result.tasks / result.iterations : 0; }
  double kernels_per_iteration() const { return result.iterations > 0 ? static_cast<double>(result.kernels) / result.iterations : 0; }
  /// GFLOP/s per watt = GFLOP per joule; only where energy.total() is available.
  double gflops_per_watt() const { return result.flops / energy.total().joules * 1e-9; }
};

/// A column of a sequential propagator; column and mass are those of the propagator from which it comes.
struct SequentialReport {
  std::string hadron, sink;  ///< "pion:8", "point"
  ColumnReport solve = {};
};

struct WorkerReport {
  std::string name, kind;
  std::vector<int> cores;
  double busy = 0;                  ///< part of the first column's wall time spent in tasks, 0..1
  runtime::WorkerTimes times = {};  ///< of all solves
};

/// The lattice was cut anew between two solves, under the policy `adaptive`.
struct ResplitReport {
  int after_solves = 0;
  std::string decomposition;                                                ///< the new one, with the owners
  double seconds_before = 0, seconds_predicted = 0, migration_seconds = 0;  ///< of a solve; of changing over, as charged
};

struct TimelineTask {
  int worker = 0, block = -1;
  std::string name;
  double begin_us = 0, end_us = 0;
  runtime::CodeletKind kind = runtime::CodeletKind::other;
};

/// Numbers of an operator (Solver::numbers()), where it has any.
struct OperatorReport {
  std::optional<double> mass;  ///< where others have operators of their own
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<MultigridLevel> levels = {};  ///< where multigrid solves
  std::string begun_with = {};              ///< where its null vectors are from, if not from its own set-up
};

/// The parts of a set-up, one after another.
class SetupTimes {
 public:
  struct Part {
    const char* name;
    double seconds;
  };
  /// The part that began where the one before ended.
  void ended(const char* name) {
    const auto now = Clock::now();
    parts_.push_back({name, std::chrono::duration<double>(now - last_).count()});
    last_ = now;
  }
  const std::vector<Part>& parts() const { return parts_; }
  double seconds() const { return std::chrono::duration<double>(last_ - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  std::vector<Part> parts_;
};

/// What an island has done, where several share the right-hand sides.
struct IslandReport {
  std::vector<std::string> devices = {};
  int groups = 0;
  double seconds = 0;  ///< in which it had one
};

struct RunReport {
  RunConfig config;
  std::vector<std::string> sources;  ///< of the whole run, where it has several: this report is of one of them, that of `config`
  GaugeSummary gauge;
  std::string started;  ///< UTC, ISO 8601
  std::string host, cpu_model, decomposition;
  std::vector<MemoryNeed> memory;  ///< estimated before the run
  DevicePlan devices;
  SetupTimes setup;  ///< until links are where the solves need them
  double total_seconds = 0;
  std::vector<OperatorReport> operators;
  std::vector<ColumnReport> solves;
  int first_iterations = 0;  ///< of the whole run's first solve, which knew no modes that others had gathered
  std::vector<SequentialReport> sequential;
  std::vector<Correlator> correlators;
  std::vector<WorkerReport> workers;
  runtime::MachinePower power;              ///< by which the policy `energy` chose
  std::vector<runtime::LinkTraffic> links;  ///< between memories, of all solves
  std::vector<ResplitReport> resplits;
  std::vector<IslandReport> islands;
  std::vector<TimelineTask> timeline;  ///< consecutive tasks of the first column
  std::string failure;                 ///< which of the last of `solves` did not converge, and why; then there are no correlators
};

/// "quarkstar 0.1.0 (abc1234), StarPU 1.4.10, g++ 12.2.0".
std::string version_line();

/// How the driver's other tools name the GPUs of a session.
std::vector<std::string> gpu_bus_ids(const runtime::Session& session);

/// Host name, CPU and start time.
void describe_machine(RunReport& report);

/// The two columns of energy in tables: joules and GFLOP/s per watt, "unavailable" where they are.
struct EnergyText {
  std::string joules, gflops_per_watt;
};
EnergyText energy_text(const ColumnReport& column);

/// One line below such a table: what was measured, and why the rest was not.
std::string energy_note(const ColumnReport& column);

/// One line: tasks and kernels an iteration, idle time a task and, where parts were measured alone, speed over the sum of their speeds.
std::string runtime_note(const RunReport& report, const ColumnReport& column);

/// What the action of a report's run is told, and what the run takes of its answer.
ActionRun action_run(const RunReport& report);
void take(RunConfig& config, const ActionRun& action);

/// Whether a source of the run has all columns, which correlators need.
bool has_all_columns(const RunConfig& config);

/// Which of the wanted correlators this run's source has no meaning for, and why; empty where it has all.
std::string correlators_left_out(const RunConfig& config);

}  // namespace quarkstar::app
