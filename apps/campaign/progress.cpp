#include "apps/campaign/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app::campaign {
namespace {

int solves_of(const Quark& quark) { return static_cast<int>(quark.config.columns.size() * quark.config.masses().size()); }

}  // namespace

/// The solves of one quark on one configuration, as a part of the whole.
class CampaignWatch::Part : public RunProgress {
 public:
  explicit Part(CampaignWatch& whole) : whole_(whole) {}
  void update(int step, double fraction, const std::string& detail) override {
    whole_.bar_->update(whole_.solved_ + step, fraction, text(detail));
  }
  void step_done(int step, const std::string& detail) override { whole_.bar_->step_done(whole_.solved_ + step, text(detail)); }

 private:
  std::string text(const std::string& detail) const {
    const std::string left = whole_.left_text();
    return fmt::format("{}: {}{}{}", whole_.label_, detail, left.empty() ? "" : "; ", left);
  }
  CampaignWatch& whole_;
};

CampaignWatch::CampaignWatch(RunWatch& outer, const CampaignPlan& plan) : outer_(outer), grace_(plan.campaign->grace) {
  int total = 0;
  for (const QuarkPlan& quark : plan.quarks) {
    total += static_cast<int>(quark.missing) * solves_of(*quark.quark);
    Rate& rate = rates_[quark.quark->name];
    rate.left = quark.missing;
    // What was measured before, perhaps on another machine, counts as one row: it loses against what is measured now.
    if (quark.seconds_a_row) rate.seconds = *quark.seconds_a_row, rate.rows = 1;
  }
  bar_ = outer.progress("right-hand side", total);
}

bool CampaignWatch::interrupted() {
  if (!outer_.interrupted()) return false;
  if (!signalled_) signalled_ = Clock::now();
  return Clock::now() - *signalled_ >= grace_;
}

void CampaignWatch::solving(bool now) {
  solving_ += now ? 1 : -1;
  if (tell_solving_) tell_solving_(solving_ > 0);
}

std::unique_ptr<RunProgress> CampaignWatch::progress(const std::string&, int) { return std::make_unique<Part>(*this); }

void CampaignWatch::begin(const std::string& configuration, const Quark& quark) {
  label_ = fmt::format("{} {}", configuration, quark.name);
  quark_ = quark.name;
  rows_done_ = 0;
  solves_a_row_ = solves_of(quark);
  row_began_ = Clock::now();
}

double CampaignWatch::row_done() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - row_began_).count();
  row_began_ = now;
  Rate& rate = rates_.at(quark_);
  rate.seconds += seconds;
  rate.rows += 1;
  --rate.left;
  ++rows_done_;
  return seconds;
}

void CampaignWatch::end(std::size_t rows) {
  solved_ += static_cast<int>(rows) * solves_a_row_;
  rates_.at(quark_).left -= rows - rows_done_;
}

std::string CampaignWatch::left_text() const {
  double seconds = 0;
  bool known = false, unknown = false;
  for (const auto& [quark, rate] : rates_) {
    if (rate.left == 0) continue;
    (rate.rows > 0 ? known : unknown) = true;
    if (rate.rows > 0) seconds += static_cast<double>(rate.left) * rate.seconds / rate.rows;
  }
  if (!known) return "";
  return fmt::format("{} {} left", unknown ? "more than" : "about", duration_text(seconds));
}

}  // namespace quarkstar::app::campaign
