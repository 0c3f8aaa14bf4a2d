#pragma once
// A run from its settings to its outputs: what a command, or another program, calls.
#include "apps/run/report.hpp"
#include "apps/run/run_watch.hpp"

#include <functional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Whoever wants to tell of a run what it does; called on the root of the job, each may be empty.
struct RunListener {
  std::function<void(const RunReport&)> planned = {};  ///< it is clear what runs where and how much memory it takes
  std::function<void(const RunReport&)> solved = {};   ///< a source's solves have converged, and its correlators are there
  /// Its results are written, to these files of the output folder and to the JSON where one is wanted.
  std::function<void(const RunReport&, const std::vector<std::string>& files)> written = {};
};

/// Reads headers only, so that a wrong name or source costs no time. What files of links say becomes the configuration's.
Coord read_extents(RunReport& report);

/// Solves and contracts for every source of the configuration and writes what it asks for. Under MPI all ranks call with the same settings.
/// config: of defaults and apply_settings(); complete() and check_complete() are called here. Throws what they throw, Error(input) for
/// files that cannot be read or written and settings in which ranks differ, and what solve_sources() throws; of a solve that did not
/// converge the JSON is written first.
void run(RunConfig config, RunWatch& watch = unwatched(), const RunListener& listener = {});

}  // namespace quarkstar::app
