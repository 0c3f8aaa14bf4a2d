#pragma once
// What tasks on several vectors read of a solver's state: which of them nobody works on any more.
#include "runtime/graph/graph_status.hpp"

#include <array>
#include <cstddef>

namespace quarkstar {

/// Right-hand sides that one field can hold.
inline constexpr int most_vectors = 32;

/// One number for each vector.
using PerVector = std::array<double, most_vectors>;
constexpr PerVector same_for_all(double value) {
  PerVector values{};
  for (double& v : values) v = value;
  return values;
}

/// f(v) for the first n vectors, 0 for the others.
template <class Function>
PerVector for_each_vector(std::size_t n, Function&& f) {
  PerVector values{};
  for (std::size_t v = 0; v < n; ++v) values[v] = f(v);
  return values;
}

/// Head of the state of an algorithm that advances several vectors together, each stopping on its own: a vector that is left out
/// stays as it is in a field that a task updates, so that its bits are those of a solve of its own; in a field that a task only writes it
/// is lost.
struct VectorStatus {
  runtime::GraphStatus status;           ///< `stop` stops everything; `resting` is zero while any vector's refresh is due
  std::int32_t stopped[most_vectors]{};  ///< reason; 0: running
  std::int32_t not_due[most_vectors]{};  ///< while status.resting is zero: 0 for the vectors whose refresh is due
};

/// The flags of a state that a task on vectors obeys: those of its runtime::Guard. The state begins with a VectorStatus, or, where single
/// vectors are not left out, with a runtime::GraphStatus at least.
struct Obedience {
  bool masked = true;  ///< false: works on every vector, whatever the flags of single vectors
  runtime::When when = runtime::When::running;
  Obedience() = default;
  explicit Obedience(const runtime::Guard& guard) : masked(guard.masked), when(guard.when) {}

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

}  // namespace quarkstar
