#pragma once
#include "codelets/field/vector_status.hpp"

namespace quarkstar::blas {

/// A number for each vector: constants, or an array of the state that is read when the task runs.
struct Coefficient {
  runtime::ComplexScalar values[most_vectors]{};
  std::int64_t offset = -1;  ///< of the array in the state; -1: the constants. 64 bits: no gap behind it
  std::int64_t is_real = 0;  ///< the array is of doubles
  double factor = 1;         ///< multiplies either

  Coefficient() = default;
  Coefficient(const PerVector& constants) {
    for (int v = 0; v < most_vectors; ++v) values[v] = {constants[static_cast<std::size_t>(v)], 0};
  }
  /// The same for all.
  Coefficient(double re, double im = 0) {
    for (runtime::ComplexScalar& value : values) value = {re, im};
  }
  /// A member of the state.
  template <class State>
  static Coefficient of(double (State::*member)[most_vectors]) {
    return at(runtime::offset_of(member), true);
  }
  template <class State>
  static Coefficient of(runtime::ComplexScalar (State::*member)[most_vectors]) {
    return at(runtime::offset_of(member), false);
  }
  /// An array of complex numbers so many bytes behind the state's beginning.
  static Coefficient at(std::int64_t bytes, bool real) {
    Coefficient c;
    c.offset = bytes;
    c.is_real = real ? 1 : 0;
    return c;
  }
  friend Coefficient operator-(Coefficient c) {
    c.factor = -c.factor;
    return c;
  }

  QUARKSTAR_HD runtime::ComplexScalar resolve(const void* state, int vector) const {
    runtime::ComplexScalar z = values[offset >= 0 ? 0 : vector];
    if (offset >= 0) {
      const auto* member = reinterpret_cast<const double*>(static_cast<const char*>(state) + offset);
      z = is_real != 0 ? runtime::ComplexScalar{member[vector], 0} : runtime::ComplexScalar{member[2 * vector], member[2 * vector + 1]};
    }
    return {z.re * factor, z.im * factor};
  }
};

}  // namespace quarkstar::blas
