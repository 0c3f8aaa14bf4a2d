#pragma once
// What `quarkstar lab` is asked to run: the axes of a matrix of settings, what all runs share, and the order of the runs.
#include "apps/run/config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::app::lab {

/// Keys of `solve` (docs/usage.md) with their values as text, in a fixed order. Two more keys: `lattice`, the extents of a configuration
/// that the lab makes, and `machine`, `here` or the name of a simulated one.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The value of a key, or nullptr.
const std::string* find(const Settings& settings, std::string_view key);

/// Whether they are of a simulated machine.
bool is_simulated(const Settings& settings);

/// "policy=eager blocks=1,1,2,2"; "-" without settings.
std::string text_of(const Settings& settings);

/// A setting that varies.
struct Axis {
  std::string key;
  std::vector<std::string> values;
  std::string where;  ///< "run.toml:3: policy", "--policy"
};

/// The command that a run is.
enum class Workload { solve, bench_solver };

struct Plan {
  std::vector<Axis> axes;
  std::vector<Assignment> fixed;  ///< settings of every run
  Workload workload = Workload::solve;
  std::string gauge;  ///< the configuration; empty: one is made for each `lattice`
  double beta = 6;    ///< of configurations that are made
  int sweeps = 10;
  int repetitions = 5, warm_up = 1;
  bool trace = false;                 ///< one more run of each cell, which writes a trace
  bool bandwidth = true;              ///< measure the memory's bandwidth for each set of devices
  double array_megabytes = 256;       ///< of that measurement
  std::optional<std::uint64_t> seed;  ///< of the order; none: a new one
  double limit_seconds = 600;         ///< of one run
  std::string out = "lab-results";
};

/// One point of the matrix.
struct Cell {
  Settings varying;       ///< of the axes with several values
  Settings settings;      ///< all that the run is told: fixed ones, then those of the axes
  Settings inputs{};      ///< what it depends on besides (inputs.hpp); known when it is about to run
  std::string program{};  ///< version line of the executable that runs it
  std::string name() const { return text_of(varying); }
};

/// Runs before the measured ones are done and forgotten; traced runs write a trace and are not timed.
enum class RunKind { warm_up, measured, traced };
std::string_view name_of(RunKind kind);

struct PlannedRun {
  std::size_t cell = 0;
  RunKind kind = RunKind::measured;
  int repetition = 0;  ///< 1, 2, ...
};

/// Throws Error(input) naming where a key or a value of an axis or a fixed setting is wrong, whatever the others are.
void check(const Plan& plan);

/// All combinations, the last axis fastest. Settings that mean nothing for the action of a cell are left out of it, and cells that are
/// then alike count once. Combinations that exclude each other are left out; `left_out` gets their names with the reason. Throws
/// Error(input) where nothing is left.
std::vector<Cell> cells_of(const Plan& plan, std::vector<std::string>& left_out);

/// Warm-up runs, then measured runs, then traced ones; each group in an order drawn from the seed (the same on every machine).
/// Simulated cells are measured once without a warm-up, for they always take the same time; but not those whose policy draws random
/// numbers.
std::vector<PlannedRun> runs_of(const Plan& plan, const std::vector<Cell>& cells, std::uint64_t seed);

/// A field of Plan: a top-level key of the file, and the flag --KEY.
struct PlanField {
  std::string_view key, metavar, help;     ///< metavar empty: a switch
  void (*set)(Plan&, const std::string&);  ///< throws BadValue
};
const std::vector<PlanField>& plan_fields();

/// Sets a field; throws Error(input) naming where it was written.
void set_field(Plan& plan, const std::string& key, const std::string& value, const std::string& where);

/// Reads a file: top-level keys for the fields of Plan, [vary] for axes, [solve] for fixed settings (docs/howto/laboratory.md).
/// Throws Error(input) naming file, line and key.
Plan read_plan(const std::string& path);

}  // namespace quarkstar::app::lab
