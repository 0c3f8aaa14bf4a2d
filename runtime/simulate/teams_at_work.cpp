#include "runtime/simulate/teams_at_work.hpp"

#include <algorithm>
#include <limits>

namespace quarkstar::runtime::simulate {

namespace {

constexpr double rounding_us = 0.01;  // of clocks that count in nanoseconds, and of durations in single precision

}  // namespace

void TeamsAtWork::start(int team, std::vector<double> us, double now_us) {
  advance(now_us);
  running_.push_back({team, std::move(us)});
}

double TeamsAtWork::us_left(const Kernel& kernel) const { return kernel.left * kernel.us[std::min(running_.size(), kernel.us.size()) - 1]; }

double TeamsAtWork::next_end_us() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : running_) next = std::min(next, us_left(kernel));
  return next;
}

void TeamsAtWork::advance(double now_us) {
  for (;;) {
    const double step = std::min(now_us - now_us_, next_end_us());
    std::vector<Kernel> going_on;
    for (Kernel kernel : running_) {
      const double left_us = us_left(kernel);
      if (left_us - step > rounding_us) kernel.left *= (left_us - step) / left_us;
      else kernel.left = 0;
      (kernel.left > 0 ? going_on : ended_).push_back(kernel);
    }
    const bool all_go_on = going_on.size() == running_.size();
    running_ = std::move(going_on);
    now_us_ += step;
    if (all_go_on) break;
  }
  now_us_ = now_us;
}

double TeamsAtWork::wait_us(int team, double now_us) {
  advance(now_us);
  const auto is_its_own = [team](const Kernel& kernel) { return kernel.team == team; };
  return std::erase_if(ended_, is_its_own) > 0 ? 0 : next_end_us();
}

}  // namespace quarkstar::runtime::simulate
