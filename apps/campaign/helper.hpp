#pragma once
// CPUs that a campaign's GPUs leave idle: a process of its own computes rows on them, from the other end of the campaign.
#include "apps/campaign/plan.hpp"
#include "apps/campaign/results_file.hpp"
#include "runtime/graph/session.hpp"

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace quarkstar::app::campaign {

/// The campaign of the helper: the same one, with its results in a folder of this one's.
Campaign of_helper(Campaign campaign);
/// What the helper makes of the campaign's settings: those of workers were made for the whole host.
void use_own_workers(Campaign& campaign);

/// Why a campaign cannot have a helper; "": it can.
std::string obstacle_to_helper(const Campaign& campaign);

/// The cores of this session on which a helper computes: as many as the campaign asks for. By itself ("auto"), where all devices are to
/// work and `plan` has GPUs alone, those that they leave, but for two; none where fewer than four are left, or where no quark fills groups.
/// Throws Error(input) where it is asked for one that it cannot have.
std::vector<int> cores_of_helper(const CampaignPlan& plan, const runtime::Session& session);

/// Whether the right-hand sides of one source fill groups: else a group that lacks them takes a GPU almost as long as a full one.
bool fills_groups(const QuarkPlan& quark);

/// As a helper: the campaign's seconds for a row of this quark over this program's own, which before the first row are the seconds of its
/// Dslash for as many iterations as the campaign's rows took. Nothing where the campaign has no row yet.
std::optional<double> gain_of(const Campaign& helped, const Journal& theirs, const QuarkPlan& own);

/// A row that a helper may begin: what it gains, as gain_of(), the helper's seconds for it, and those until the campaign comes there.
struct HelpfulRow {
  const Configuration* configuration = nullptr;
  const Quark* quark = nullptr;
  const Source* source = nullptr;
  double gain = 0, seconds = 0, left = 0;
};

/// The one that it begins; nullptr: none would be done in time. Of those that gain four fifths of the most, the shortest: what is not done
/// when the campaign ends is lost.
const HelpfulRow* best_of(std::span<const HelpfulRow> rows);

/// What it has done of a configuration that is not in the journal of the campaign. What cannot be read, and what was computed with other
/// settings, counts as not done, with a warning; so does everything, without one, where the campaign cannot have a helper.
ConfigurationResults rows_of_helper(const Campaign& campaign, const Configuration& configuration, const Journal& journal);

/// Removes what the helper has left, once all rows in it are done here too. Nothing under a launcher of MPI.
void forget_helper(const Campaign& campaign, const Journal& journal);

/// The process, which ends with this, whatever it is at: its rows are on disk as soon as they are done, one that is not is lost. Where it
/// fails a warning says so.
class Helper {
 public:
  /// command: the program, and the arguments that start this campaign, but for its folder and its devices.
  Helper(const Campaign& campaign, std::vector<std::string> command, std::vector<int> cores);
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper();

  /// It works while the campaign solves. At other times it stands still: what prepares solves and follows them on the host takes longer
  /// beside it than it gains (docs/results/2026-11-30-h200-hybrid.md).
  void set_working(bool works);

 private:
  std::atomic<bool> ends_ = false;
  std::atomic<int> group_ = 0;  ///< of its process; 0: there is none
  bool works_ = true;
  std::thread thread_;
};

}  // namespace quarkstar::app::campaign
