#pragma once
#include "codelets/actions/staggered/vector_status.hpp"

namespace quarkstar::staggered {

/// A real number for each vector: constants, or an array of the state that is read when the task runs.
struct VectorCoefficient {
  PerVector values{};
  std::int64_t offset = -1;  ///< of most_vectors doubles in the state; -1: the constants. 64 bits: no gap behind it
  double factor = 1;         ///< multiplies either

  VectorCoefficient() = default;
  VectorCoefficient(const PerVector& constants) : values(constants) {}
  VectorCoefficient(double constant) : values(same_for_all(constant)) {}
  /// A member of the state.
  template <class State>
  static VectorCoefficient of(double (State::*member)[most_vectors]) {
    const State probe{};
    VectorCoefficient c;
    c.offset = reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
    return c;
  }
  friend VectorCoefficient operator-(VectorCoefficient c) {
    c.factor = -c.factor;
    return c;
  }

  QUARKSTAR_HD double resolve(const void* state, int vector) const {
    const double* from = offset >= 0 ? reinterpret_cast<const double*>(static_cast<const char*>(state) + offset) : &values[0];
    return from[vector] * factor;
  }
};

}  // namespace quarkstar::staggered
