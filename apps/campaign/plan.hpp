#pragma once
// What a campaign will do and take, before it starts.
#include "apps/campaign/journal.hpp"
#include "apps/run/solve_plan.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::app::campaign {

/// A quark's part of it.
struct QuarkPlan {
  const Quark* quark;
  PlannedSolve solve;                   ///< with the next configuration in the host's memory
  std::size_t missing;                  ///< sources to solve from: sources_to_solve()
  std::size_t again;                    ///< of them whose row is done
  std::optional<double> seconds_a_row;  ///< of rows that are done
  double seconds_a_hundred_iterations;  ///< of a row, from the speed of the Dslash; 0: not asked for, as rows are done
};

struct CampaignPlan {
  const Campaign* campaign;
  Coord lattice;
  std::size_t rows, done;                                      ///< all rows, and those that are done
  std::vector<QuarkPlan> quarks;                               ///< empty where nothing is missing
  std::vector<std::pair<const Hadron*, std::size_t>> hadrons;  ///< with the number of missing rows, where there are some
  double disk_bytes = 0;                                       ///< of files that are written
  double disk_free = 0;                                        ///< 0: not known
  std::vector<int> helper{};                                   ///< cores of the campaign's helper (helper.hpp)

  std::size_t missing() const { return rows - done; }
};

/// Sources of which the rows of a quark, or a hadron, are missing on a configuration.
std::vector<Source> missing_sources(const Campaign& campaign, const Journal& journal, const Configuration& configuration,
                                    const Table& table);

/// Sources of which a row of a quark, or of a hadron made of it, is missing: propagators are kept no longer than a job works on a
/// configuration.
std::vector<Source> sources_to_solve(const Campaign& campaign, const Journal& journal, const Configuration& configuration,
                                     const Quark& quark);

/// The campaign without a session: what is missing, and its size.
CampaignPlan plan_rows(const Campaign& campaign, const Journal& journal, const Coord& lattice);

/// Adds who solves what where. Measures the Dslash of quarks of which no row is done, half a second for each owner of blocks. Collective.
void plan_quarks(CampaignPlan& plan, const Journal& journal, runtime::Session& session);

/// Throws Error(input) for memory that is too small, Error(environment) for a disk that is.
void require_room(const CampaignPlan& plan);

/// Lines for a reader.
std::string text_of(const CampaignPlan& plan);
/// "35 s", "12 min", "3.4 h", "2.1 days".
std::string duration_text(double seconds);

}  // namespace quarkstar::app::campaign
