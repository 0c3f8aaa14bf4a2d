#include "solvers/step_watch.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/system/clock.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar {

void StepWatch::run(StepWatch* watch, int level, const char* name, const std::function<void()>& body) {
  if (watch == nullptr) return body();
  watch->charge();
  std::vector<StepWork>& steps = watch->steps_;
  auto step = std::find_if(steps.begin(), steps.end(), [&](const StepWork& s) { return s.level == level && s.name == name; });
  if (step == steps.end()) step = steps.insert(steps.end(), {level, name});
  ++step->calls;
  const auto around = std::exchange(watch->at_, static_cast<std::size_t>(step - steps.begin()));
  body();
  watch->charge();
  watch->at_ = around;
}

double StepWatch::flops_of_level(int level) const {
  double flops = 0;
  for (const StepWork& step : steps_)
    if (step.level == level) flops += step.flops;
  return flops;
}

double StepWatch::seconds_of_level(int level) const {
  double seconds = 0;
  for (const StepWork& step : steps_)
    if (step.level == level) seconds += step.seconds;
  return seconds;
}

/// What has happened since the last call belongs to the step at work.
void StepWatch::charge() {
  if (waits_) runtime::Session::current().wait_all();
  const runtime::Cost& now = runtime::Events::of_this_thread().cost;
  const double us = runtime::now_us();
  if (at_) {
    StepWork& step = steps_[*at_];
    step.flops += now.flops - flops_;
    step.bytes += now.bytes - bytes_;
    if (waits_) step.seconds += (us - us_) * 1e-6;
  }
  flops_ = now.flops;
  bytes_ = now.bytes;
  us_ = us;
}

}  // namespace quarkstar
