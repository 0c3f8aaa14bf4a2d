#pragma once
// Runs a plan: each run a process of its own, so that the runtime starts anew and a crash costs one row.
#include "apps/lab/journal.hpp"
#include "apps/lab/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// What a plan has come to.
struct Outcome {
  std::vector<Cell> cells;
  std::vector<std::string> left_out;  ///< combinations that exclude each other, with the reason
  std::uint64_t seed = 0;
  std::vector<Record> records;  ///< of this plan, by this program; of a run that was repeated the last
  std::vector<Bandwidth> bandwidths;
};

/// The path of quarkstar-sim: $QUARKSTAR_SIM, else in the folder `simulation` beside that of the running executable, else in its own.
std::string simulator();
/// Throws Error(environment) with the remedy where it is not there.
void require_simulator();

/// The settings of a cell that choose its devices.
Settings devices_of(const Settings& settings);

/// The command line of a run: `gauge` is read (not by `bench solver`), the results go to `json` (`bench solver`: to stdout), a trace to
/// `trace` unless empty. Runs of `solve` that are not measured, and all of `bench solver`, state lower bounds, for which tasks are
/// recorded; with several sources a solve writes into a folder `out` beside `json`. Simulated runs are simulator()'s.
std::vector<std::string> command_of(const Plan& plan, const Cell& cell, RunKind kind, const std::string& gauge, const std::string& json,
                                    const std::string& trace);

/// Runs what the journal plan.out/runs.jsonl does not hold yet and appends it, after each run. Progress goes to stderr. Throws Error for
/// plans that cannot run, and Interrupted after Ctrl-C.
Outcome run(const Plan& plan);

}  // namespace quarkstar::app::lab
