#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/run/report.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"

#include <functional>
#include <span>
#include <string>

namespace quarkstar::app {

/// The links of this rank's part of a lattice (or more of it), once it is known. The reference stays valid while the links are used.
using LinksOfPart = std::function<const HostGauge&(const runtime::Decomposition&)>;

/// Links that are there already, whole, and live longer than the solve.
inline LinksOfPart links_at_hand(const HostGauge& gauge) {
  return [&gauge](const runtime::Decomposition&) -> const HostGauge& { return gauge; };
}

/// Starts a session as config.session says, plans who owns what, checks the memory, solves config.columns on `links`, and fills the
/// report's solves, workers, timeline and decomposition as it goes. Under MPI all ranks call, and each gets its part of every column.
/// Writes the trace if config.trace names one. Shows progress. Throws Error(numerical) naming column and reason if a column does not
/// converge (report.failed is then set, report.solves ends with that column), and Interrupted after Ctrl-C. planned: called once it is
/// clear what runs where and how much memory it takes, before that memory is taken.
Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned = {});

/// One source of a run, and what becomes of its propagator.
struct SourceRun {
  const RunConfig& config;
  RunReport& report;
  std::function<void(Propagator)> done;
};

/// The same for several sources of one run, whose configurations differ in what belongs to a source: it, and names of folders and files.
/// With config.solver.in_flight > 1 the columns of the next source are on the graph while `done` contracts and writes those of one: what
/// the report of a solve says of its time is then time in flight, and of its energy nothing.
void solve_sources(const LinksOfPart& links, const Coord& lattice, std::span<SourceRun> sources,
                   const std::function<void(const RunReport&)>& planned = {});

/// One of n equal shares.
runtime::Energy share_of(runtime::Energy energy, std::size_t n);

/// Ends a run whose column did not converge, as described above. right_hand_side: e.g. "column 3 (spin 1, colour 0)".
[[noreturn]] void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result);

/// Time that the owners of blocks spent outside StarPU's tasks during these solves, microseconds a task, over all ranks, which must all
/// call.
double idle_us_a_task(const runtime::Decomposition& decomposition, std::span<const SolveResult> results);

/// Writes this rank's trace where one is wanted: on the root `run.json`, on rank 3 `run.rank3.json`. Waits for the session's tasks.
void write_trace(runtime::Session& session, const RunConfig& config);

}  // namespace quarkstar::app
