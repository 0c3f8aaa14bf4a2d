#pragma once
// What tasks on several vectors read of a solver's state: which of them nobody works on any more.
#include "codelets/actions/staggered/colour_field.hpp"
#include "runtime/graph/graph_status.hpp"

#include <array>

namespace quarkstar::staggered {

/// Head of the state of an algorithm that advances several vectors together, each stopping on its own: a vector that is left out
/// stays as it is in a field that a task updates, so that its bits are those of a solve of its own; in a field that a task only writes it
/// is lost.
struct VectorStatus {
  runtime::GraphStatus status;           ///< `stop` stops everything; `resting` is zero while any vector's refresh is due
  std::int32_t stopped[most_vectors]{};  ///< reason; 0: running
  std::int32_t not_due[most_vectors]{};  ///< while status.resting is zero: 0 for the vectors whose refresh is due
};

/// Which flags of the state a task obeys.
struct Obedience {
  bool masked = true;  ///< false: works on every vector, whatever the flags of single vectors
  runtime::When when = runtime::When::running;

  /// The flag that makes the whole task do nothing when it is not zero; nullptr without a state.
  QUARKSTAR_HD const std::int32_t* idle(const VectorStatus* state) const {
    return state == nullptr ? nullptr : runtime::idle_flag(&state->status, when);
  }
  /// For each vector non-zero where it is left out; nullptr: none is.
  QUARKSTAR_HD const std::int32_t* left_out(const VectorStatus* state) const {
    if (state == nullptr || !masked) return nullptr;
    return when == runtime::When::running ? state->stopped : state->not_due;
  }
};

/// The state that a task obeys (it begins with a VectorStatus), and how; nullptr: none, the task always works on everything.
struct Control {
  const runtime::Handle* state = nullptr;
  Obedience obedience;
  Control() = default;
  Control(const runtime::Handle* handle, bool masked = true, runtime::When when = runtime::When::running)
      : state(handle), obedience{masked, when} {}
  /// A task that may leave its output, or a part of it, alone must not lose what was there.
  bool keeps_output() const { return state != nullptr && obedience.when == runtime::When::refreshing; }
  /// The same state's tasks while a refresh is due.
  Control refreshing() const { return {state, true, runtime::When::refreshing}; }
};

/// One number for each vector.
using PerVector = std::array<double, most_vectors>;
constexpr PerVector same_for_all(double value) {
  PerVector values{};
  for (double& v : values) v = value;
  return values;
}

}  // namespace quarkstar::staggered
