#pragma once
// A campaign from its file to its results.
#include "apps/campaign/averages.hpp"
#include "apps/campaign/lost_devices.hpp"
#include "apps/campaign/plan.hpp"
#include "apps/campaign/time_spent.hpp"
#include "apps/run/run_watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::campaign {

/// A row of which no results came; without source all of a quark's, without quark all of a configuration's.
struct Failure {
  Row row;
  std::string reason;

  std::string name() const;  ///< "lat.1 light point:0,0,0,0", as far as it goes
};

/// Whoever wants to tell of a campaign what it does; called on the root of the job, each may be empty.
struct Listener {
  std::function<void(const CampaignPlan&)> planned = {};  ///< before the first solve, and before memory is taken
  std::function<void(const std::string& configuration, int rows, double seconds)> done = {};
  std::function<void(const Failure&)> failed = {};
  /// Behind the last configuration, also where something ends the campaign before that.
  std::function<void(const TimeSpent&)> spent = {};
  std::function<void(const std::vector<std::string>& files)> written = {};  ///< the campaign's own, at its end
};

struct Options {
  bool dry_run = false;                ///< plan only, and write nothing
  bool stop_on_error = false;          ///< the first failure ends the campaign
  std::vector<std::string> command{};  ///< that starts this campaign again, for its helper; empty: it gets none
  std::string helper_of{};             ///< this is the helper of a campaign in that folder
  GoOnWithout go_on_without{};         ///< for a device that fails; empty: the campaign ends
  std::vector<LostDevice> lost{};      ///< devices that have failed in this run before it was begun anew
};

/// What a report tells beside averages.
struct Outcome {
  const Campaign& campaign;
  const Journal& journal;
  std::vector<Failure> failures;
  std::vector<LostDevice> lost;  ///< while rows were computed
  std::string started, host, cpu_model;
  double seconds = 0;
  std::optional<RunReport> first;  ///< of the first row that was computed in this run: its timeline
  std::optional<TimeSpent> spent;  ///< where something was computed
};

/// Computes the rows that are missing, one configuration after the other on one session, while the next configuration is read and checked
/// on a thread of its own (one rank only). A row is written into its configuration's file, and then into the journal, while the next ones
/// are solved for (on several ranks before): whatever ends the program, the next start goes on there, with the same bits. A configuration
/// that cannot be read, and a row of which a solve does not converge, fail, and the others go on. Under MPI all ranks call; the root
/// writes. In the end averages and the report are written. Throws Error(input) for settings that are not those of rows that are done, what
/// reading, solving and writing throw where it is no failure of a row, in the end Error naming the first failure if there were any, and
/// Interrupted: where `watch` says so no further solve starts, and one that runs is given up after campaign.grace seconds. With a helper
/// (helper.hpp) rows that this one has done are taken over where it is their turn. Where a device fails, and others like it are there,
/// options.go_on_without is called, on any thread: the campaign should go on in a new program (rows at work are lost). As the helper of
/// another campaign it computes rows from the last one back that are done in neither, one after the other, and writes no averages.
void run(const Campaign& campaign, const Options& options, RunWatch& watch, const Listener& listener);

}  // namespace quarkstar::app::campaign
