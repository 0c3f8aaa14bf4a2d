#pragma once
// The parts of runtime/graph/scalar.hpp that GPU kernels need too.
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar::runtime {

class Handle;

/// Head of every state. Once stop is non-zero, all tasks that read the state do nothing: submitting ahead is harmless.
struct GraphStatus {
  std::int32_t stop = 0;  ///< reason; 0: running
  std::int32_t step = 0;  ///< iterations completed
  /// Zero from the step that finds a refresh due (a residual computed anew in a higher precision) until the step that ends it; the
  /// refresh's tasks are submitted now and then and work only in between.
  std::int32_t resting = 1;
  std::int32_t steps_taken = 0;  ///< scalar steps that ran, without those of refreshes: where in the graph it stopped
  std::int32_t refreshes = 0;    ///< refreshes that ran
};

/// When a task that reads a state works: as long as the graph has not been stopped, or only while a refresh is due.
enum class When : std::uint8_t { running, refreshing };

/// The flag that makes such a task do nothing when it is not zero.
QUARKSTAR_HD const std::int32_t* idle_flag(const GraphStatus* status, When when) {
  return when == When::running ? &status->stop : &status->resting;
}

/// The state that a task obeys, and how; nullptr: none, the task always works.
struct Guard {
  const Handle* state = nullptr;
  When when = When::running;
  bool keeps = false;  ///< what a task that does not work leaves in its output is read later, so no copy of it may be given up
  bool masked = true;  ///< where the state has flags for single vectors, those that it names are left out
  Guard() = default;
  Guard(const Handle* handle) : state(handle) {}
  /// The same state's tasks while a refresh is due; tasks whose output is kept; tasks on every vector, whatever the flags of single
  /// vectors.
  Guard refreshing() const {
    return changed([](Guard& g) { g.when = When::refreshing, g.keeps = true; });
  }
  Guard keeping() const {
    return changed([](Guard& g) { g.keeps = true; });
  }
  Guard of_all_vectors() const {
    return changed([](Guard& g) { g.masked = false; });
  }

 private:
  template <class Change>
  Guard changed(Change&& change) const {
    Guard copy = *this;
    change(copy);
    return copy;
  }
};

/// A step of an algorithm that advances several vectors together: what it does for one of them.
template <class Step, class State>
concept StepOfVectors = requires(State& state, const double* sums) {
  Step::run(state, 0, sums);
};

/// Whether the step works only while a refresh is due.
template <class Step>
inline constexpr bool refreshes = requires {
  Step::refreshing;
};

/// What a step of vectors does for vector v, which others may do for theirs at the same time.
template <class Step, class State>
QUARKSTAR_HD void take_step_of(State& state, int v, const double* sums) {
  if (!state.leaves_out(v, refreshes<Step>)) Step::run(state, v, sums);
}

/// The rest of a step: of all vectors together, and the record and count of one that ends an iteration.
template <class Step, class State>
QUARKSTAR_HD void end_step(State& state, double* history, int most_steps) {
  if constexpr (StepOfVectors<Step, State>) state.settle();
  if constexpr (refreshes<Step>) state.status.refreshes += 1;
  else if constexpr (!requires { Step::from_outside; }) state.status.steps_taken += 1;
  if constexpr (Step::ends_iteration) {
    if constexpr (requires { state.numbers_a_step(); }) {
      const int numbers = state.numbers_a_step();
      for (int i = 0; i < numbers; ++i)
        if (state.status.step * numbers + i < most_steps) history[state.status.step * numbers + i] = Step::record(state, i);
    } else {
      if (state.status.step < most_steps) history[state.status.step] = Step::record(state);
    }
    state.status.step += 1;
  }
}

/// Runs Step on a state with its sums; a step that ends an iteration is recorded and counted.
template <class Step, class State>
QUARKSTAR_HD void take_step(State& state, const double* sums, double* history, int most_steps) {
  if constexpr (StepOfVectors<Step, State>) {
    for (int v = 0; v < state.vectors; ++v) take_step_of<Step>(state, v, sums);
  } else {
    Step::run(state, sums);
  }
  end_step<Step>(state, history, most_steps);
}

/// A complex number in a state.
struct ComplexScalar {
  double re = 0, im = 0;
};

/// Bytes from the beginning of a state to a member.
template <class State, class Member>
std::int64_t offset_of(Member State::*member) {
  const State probe{};
  return reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
}

}  // namespace quarkstar::runtime
