#pragma once
// What the solves of a run share: its sources, islands, reports.
#include "apps/run/adaptive_cut.hpp"
#include "apps/run/checkpoint.hpp"
#include "apps/run/job_energy.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/shared_account.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/run/source_correlators.hpp"
#include "codelets/quark_smear/smearers.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarkstar::app {

/// A file that each rank writes for itself: on the root `run.json`, on rank 3 `run.rank3.json`.
std::string file_of_rank(const std::string& file);
/// Writes this rank's trace where one is wanted. Waits for the session's tasks.
void write_trace(runtime::Session& session, const RunConfig& config);

/// A source, what is solved from it, and its restart files where there are any.
struct SourceState {
  SourceRun& run;
  Propagators propagators;
  std::size_t remaining;  ///< right-hand sides
  SourceCorrelators correlators;
  std::optional<Checkpoint> checkpoint = {};
  bool begun = false;
  std::set<std::size_t> with_three_points = {};  ///< masses of which they are made, or under way
};

/// What all of a run shares. With several solves in flight (runtime/graph/turns.hpp) one of them at a time is here.
struct RunState {
  runtime::Session& session;
  const RunConfig& config;  ///< with all sources
  const ActionKind& kind;
  const std::vector<double> masses;
  const std::vector<std::vector<std::size_t>> operators;  ///< operators_of(config)
  const std::vector<SolveKey> order;                      ///< of a source's solves in reports
  /// The policy `adaptive` may cut a single one anew between solves, unless several are in flight.
  std::vector<runtime::Decomposition> islands;
  const HostGauge* gauge;                                      ///< with which sources and sinks are smeared and currents made, or nullptr
  std::vector<std::unique_ptr<const QuarkSmearers>> smearers;  ///< of each island
  AdaptiveCut adaptive;
  std::optional<runtime::WorkerProfile> profile;
  std::vector<SourceState> sources;
  int total;  ///< right-hand sides
  KeptBetweenSolves& kept;
  RunWatch& watch;
  SaveRequests save_requests;
  std::unique_ptr<RunProgress> bar;
  SetupTimes setup;
  bool is_set_up = false;
  int done = 0;
  bool left_out = false;                      ///< solves have not begun, because the run is to end
  std::vector<IslandReport> of_islands = {};  ///< where there are several

  /// Groups on the graph at a time.
  int groups_at_once() const { return config.solver.in_flight * static_cast<int>(islands.size()); }
  bool together() const { return groups_at_once() > 1; }
  bool gives_sources_as_they_complete() const { return sources.size() > 1; }
  std::optional<double> named_mass(std::size_t mass) const { return kind.names_masses ? std::optional(masses[mass]) : std::nullopt; }
  RunReport& first_report() const { return sources.front().run.report; }
  /// Whether a group is solved: not where all its sources are new and none should begin. No exception: it would end those in flight.
  bool begins(const std::vector<RightHandSide>& group);
  /// Links are where the solves need them.
  void set_up();
  /// For the decomposition as it is.
  void make_smearers();
  /// Of links, of measurements, of solves that are done: only a trace needs them all, and long runs would fill the memory.
  void forget_events() const {
    if (config.trace.empty() || done == 0) session.events().reset();
  }

  /// Ends the run where one of a group has not converged; all such sources have failed.
  void require_convergence(const std::vector<RightHandSide>& group, const std::vector<SolveResult>& results);

  /// Ends the run with what its failed source's report tells.
  [[noreturn]] void end_with_failure(const std::string& failure);

  std::string failure_of(const RightHandSide& side, const SolveResult& result) const;

  /// The timeline of what ran until the first solve was done. With others in flight no later moment is without tasks.
  void keep_timeline(bool among_others) const;

  /// What the workers have done so far, and how the lattice was cut.
  void tell_workers(RunReport& report);

  /// Gives the propagators of a source away. island: where the last of its right-hand sides was solved for, which may contract them. more:
  /// another one comes next.
  void conclude(SourceState& source, std::size_t island, bool more = false);
};

}  // namespace quarkstar::app
