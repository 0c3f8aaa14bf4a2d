#pragma once
// The vector operations of solvers that advance several colour vectors together: those of codelets/field and a few of their own.
#include "codelets/field/operations.hpp"

namespace quarkstar::staggered {

using blas::Use;

/// p = r + beta p.
struct Direction {
  static constexpr const char* name = "staggered.direction";
  static constexpr Use uses[] = {Use::inout, Use::in};
  static constexpr int coefficients = 1, sums = 0, flops = 8;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V> (&c)[1], V*) {
    f[0] = site::multiply_add(c[0], f[0], f[1]);
  }
};

/// Multi-shift conjugate gradient:  x += alpha p;  p = zeta r + beta p.
struct ShiftedSolutionDirection {
  static constexpr const char* name = "staggered.shifted_solution_direction";
  static constexpr Use uses[] = {Use::inout, Use::inout, Use::in};
  static constexpr int coefficients = 3, sums = 0, flops = 22;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V> (&c)[3], V*) {
    f[0] = site::multiply_add(c[0], f[1], f[0]);
    f[1] = site::multiply_add(c[2], f[1], site::multiply(c[1], f[2]));
  }
};

/// Every operation on colour vectors: kernels and codelets are made for each of these.
#define QUARKSTAR_FOR_VECTOR_OPERATIONS(DO) \
  DO(blas::Fill)                            \
  DO(blas::Scale)                           \
  DO(blas::AddScaled)                       \
  DO(blas::AddScaledNorm)                   \
  DO(blas::Norm)                            \
  DO(blas::CgSolutionDirection)             \
  DO(staggered::Direction)                  \
  DO(staggered::ShiftedSolutionDirection)

}  // namespace quarkstar::staggered
