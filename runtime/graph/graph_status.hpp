#pragma once
// The parts of runtime/graph/scalar.hpp that GPU kernels need too.
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar::runtime {

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

/// Runs Step on a state with its sums; a step that ends an iteration is recorded and counted.
template <class Step, class State>
QUARKSTAR_HD void take_step(State& state, const double* sums, double* history, int most_steps) {
  Step::run(state, sums);
  if constexpr (requires { Step::refreshing; }) state.status.refreshes += 1;
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

/// A complex number in a state.
struct ComplexScalar {
  double re = 0, im = 0;
};

/// A complex number for a vector operation: a constant, or a member of the state read when the task runs.
struct Coefficient {
  double re = 1, im = 0;
  std::int64_t offset = -1;  ///< of two doubles in the state; -1: the constant. 64 bits: no gap before the next member
  double factor = 1;         ///< multiplies either

  friend Coefficient operator-(Coefficient c) {
    c.factor = -c.factor;
    return c;
  }

  QUARKSTAR_HD void resolve(const void* state, double& real, double& imaginary) const {
    real = re;
    imaginary = im;
    if (offset >= 0) {
      const auto* member = reinterpret_cast<const double*>(static_cast<const char*>(state) + offset);
      real = member[0];
      imaginary = member[1];
    }
    real *= factor;
    imaginary *= factor;
  }
};

}  // namespace quarkstar::runtime
