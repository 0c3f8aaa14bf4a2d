#pragma once
// What of the work that a solver submitted was done: on a GPU only the state knows where the graph stopped.
#include "runtime/graph/batch.hpp"
#include "runtime/graph/graph_status.hpp"

#include <cstdint>
#include <vector>

namespace quarkstar {

/// An amount of work.
struct Work {
  runtime::Cost cost;
  std::int64_t tasks = 0;
  Work& operator+=(const Work& other) { return add(other, 1); }
  Work& add(const Work& other, double times) {
    cost.flops += times * other.cost.flops;
    cost.bytes += times * other.cost.bytes;
    tasks += static_cast<std::int64_t>(times) * other.tasks;
    return *this;
  }
};

/// Keeps one batch of a solver's iterations, all of which are alike, and counts along it up to the step that stopped the graph.
class WorkLedger {
 public:
  /// state: whose steps can stop the graph. Steps of other states, of a solver inside an iteration, are work like any other.
  explicit WorkLedger(const runtime::Handle& state) : state_(&state) {}

  /// One more batch has been collected.
  void add(const std::vector<runtime::Batch::Part>& parts) {
    if (batches_++ > 0) return;
    for (const runtime::Batch::Part& part : parts) {
      if (part.codelet == nullptr) continue;  // a message
      const Work work{part.cost, 1};
      const bool of_another = part.placement.role == runtime::Role::step && part.accesses.front().handle != state_;
      const runtime::Role role = of_another ? runtime::Role::work : part.placement.role;
      (role == runtime::Role::work || role == runtime::Role::step ? running_ : refreshing_) += work;
      places_ += role == runtime::Role::refresh_step ? 1 : 0;
      if (role == runtime::Role::step) up_to_step_.push_back(running_);
    }
  }

  /// What the batches, each counted once, contain that was not done; negative where they were replayed. steps_before: scalar steps
  /// submitted before the first batch; status: at the end.
  Work idle(const runtime::GraphStatus& status, std::int64_t steps_before) const {
    const auto steps = static_cast<std::int64_t>(up_to_step_.size());
    const std::int64_t ran = steps > 0 ? status.steps_taken - steps_before : 0;
    Work idle;
    idle.add(running_, static_cast<double>(batches_)).add(refreshing_, static_cast<double>(batches_));
    if (ran < 0) idle.tasks -= ran;  // it stopped before the first batch
    if (ran > 0) {
      const std::int64_t whole = (ran - 1) / steps;
      const Work& last = up_to_step_[static_cast<std::size_t>((ran - 1) % steps)];
      idle.add(running_, -static_cast<double>(whole)).add(last, -1);
    }
    if (places_ == 0) return idle;
    Work one = refreshing_;
    one.cost = {one.cost.flops / places_, one.cost.bytes / places_};
    one.tasks /= places_;
    idle.add(one, -status.refreshes);
    return idle;
  }

 private:
  const runtime::Handle* state_;
  std::int64_t batches_ = 0;
  Work running_, refreshing_;  ///< of one batch
  int places_ = 0;
  std::vector<Work> up_to_step_;  ///< of a batch, up to each step and with it, refreshes apart
};

}  // namespace quarkstar
