#pragma once
// The progress of a campaign as a whole, with the time that is left, and when it should end.
#include "apps/campaign/plan.hpp"
#include "apps/run/run_watch.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace quarkstar::app::campaign {

/// Stands between the solves of a campaign and whoever watches it.
class CampaignWatch : public RunWatch {
 public:
  CampaignWatch(RunWatch& outer, const CampaignPlan& plan);

  /// Whether the solve that runs is to be given up: the grace after the signal is over.
  bool interrupted() override;
  bool begins_nothing() override { return outer_.interrupted(); }
  bool save_requested() override { return outer_.save_requested(); }
  std::unique_ptr<RunProgress> progress(const std::string& title, int steps) override;
  void solving(bool now) override;
  /// Solves of rows of a quark begin.
  void begin(const std::string& configuration, const Quark& quark);
  /// To be told whether solves are under way.
  void tell_solving(std::function<void(bool)> tell) { tell_solving_ = std::move(tell); }
  /// One row is done. Returns the seconds that it took, from the end of the one before.
  double row_done();
  /// What has passed since the last one belongs to no row.
  void begin_row() { row_began_ = Clock::now(); }
  /// So many of these rows are over, done or not.
  void end(std::size_t rows);

  /// "about 12 min left", "more than ..." while nothing is known of some quarks, "" while nothing is known at all.
  std::string left_text() const;

 private:
  using Clock = std::chrono::steady_clock;
  class Part;
  struct Rate {
    std::size_t left;              ///< rows
    double seconds = 0, rows = 0;  ///< of which the time is known
  };

  RunWatch& outer_;
  std::chrono::seconds grace_;
  std::optional<Clock::time_point> signalled_;
  std::map<std::string, Rate> rates_;  ///< by quark
  std::string label_, quark_;
  std::size_t rows_done_ = 0;  ///< of those that have begun
  int solved_ = 0, solves_a_row_ = 1;
  Clock::time_point row_began_ = Clock::now();
  std::unique_ptr<RunProgress> bar_;
  std::function<void(bool)> tell_solving_;
  int solving_ = 0;  ///< groups that are being solved for
};

}  // namespace quarkstar::app::campaign
