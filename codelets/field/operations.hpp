#pragma once
// The vector operations of the solvers, fused so that each field passes through memory once. Each is written once, as what
// happens to one complex component; `sum` gathers over a site's components in storage order.
#include "codelets/su3/complex.hpp"

namespace quarkstar::blas {

/// How an operation uses its i-th field.
enum class Use { in, out, inout };

/// y = a.
struct Fill {
  static constexpr const char* name = "blas.fill";
  static constexpr Use uses[] = {Use::out};
  static constexpr int coefficients = 1, sums = 0, flops = 0;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[1], const site::Complex<V> (&c)[1], V*) {
    f[0] = c[0];
  }
};

/// y = a x.
struct Scale {
  static constexpr const char* name = "blas.scale";
  static constexpr Use uses[] = {Use::out, Use::in};
  static constexpr int coefficients = 1, sums = 0, flops = 6;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V> (&c)[1], V*) {
    f[0] = site::multiply(c[0], f[1]);
  }
};

/// y += a x.
struct AddScaled {
  static constexpr const char* name = "blas.add_scaled";
  static constexpr Use uses[] = {Use::inout, Use::in};
  static constexpr int coefficients = 1, sums = 0, flops = 8;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V> (&c)[1], V*) {
    f[0] = site::multiply_add(c[0], f[1], f[0]);
  }
};

/// y += a x;  |y|^2.
struct AddScaledNorm {
  static constexpr const char* name = "blas.add_scaled_norm";
  static constexpr Use uses[] = {Use::inout, Use::in};
  static constexpr int coefficients = 1, sums = 1, flops = 12;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V> (&c)[1], V* sum) {
    f[0] = site::multiply_add(c[0], f[1], f[0]);
    sum[0] = fma(f[0].im, f[0].im, fma(f[0].re, f[0].re, sum[0]));
  }
};

/// y += a x1 + b x2.
struct AddScaledPair {
  static constexpr const char* name = "blas.add_scaled_pair";
  static constexpr Use uses[] = {Use::inout, Use::in, Use::in};
  static constexpr int coefficients = 2, sums = 0, flops = 16;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V> (&c)[2], V*) {
    f[0] = site::multiply_add(c[1], f[2], site::multiply_add(c[0], f[1], f[0]));
  }
};

/// <y, x>.  Fields: x, y.
struct Dot {
  static constexpr const char* name = "blas.dot";
  static constexpr Use uses[] = {Use::in, Use::in};
  static constexpr int coefficients = 0, sums = 2, flops = 8;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V>*, V* sum) {
    sum[0] = fma(f[1].im, f[0].im, fma(f[1].re, f[0].re, sum[0]));
    sum[1] = fnma(f[1].im, f[0].re, fma(f[1].re, f[0].im, sum[1]));
  }
};

/// <y1, x>, <y2, x>.  Fields: x, y1, y2.
struct DotPair {
  static constexpr const char* name = "blas.dot_pair";
  static constexpr Use uses[] = {Use::in, Use::in, Use::in};
  static constexpr int coefficients = 0, sums = 4, flops = 16;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V>*, V* sum) {
    for (int i = 0; i < 2; ++i) {
      sum[2 * i] = fma(f[1 + i].im, f[0].im, fma(f[1 + i].re, f[0].re, sum[2 * i]));
      sum[2 * i + 1] = fnma(f[1 + i].im, f[0].re, fma(f[1 + i].re, f[0].im, sum[2 * i + 1]));
    }
  }
};

/// |x|^2.
struct Norm {
  static constexpr const char* name = "blas.norm";
  static constexpr Use uses[] = {Use::in};
  static constexpr int coefficients = 0, sums = 1, flops = 4;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[1], const site::Complex<V>*, V* sum) {
    sum[0] = fma(f[0].im, f[0].im, fma(f[0].re, f[0].re, sum[0]));
  }
};

/// |x|^2, sum_k |x_k|^8: between them they say how large a component is at most (codelets/field/rounding.hpp).
struct Magnitudes {
  static constexpr const char* name = "blas.magnitudes";
  static constexpr Use uses[] = {Use::in};
  static constexpr int coefficients = 0, sums = 2, flops = 7;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[1], const site::Complex<V>*, V* sum) {
    const V norm2 = site::norm2(f[0]), norm4 = norm2 * norm2;
    sum[0] = sum[0] + norm2;
    sum[1] = fma(norm4, norm4, sum[1]);
  }
};

/// |x|^2, <y, x>.
struct NormDot {
  static constexpr const char* name = "blas.norm_dot";
  static constexpr Use uses[] = {Use::in, Use::in};
  static constexpr int coefficients = 0, sums = 3, flops = 12;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V>*, V* sum) {
    sum[0] = fma(f[0].im, f[0].im, fma(f[0].re, f[0].re, sum[0]));
    sum[1] = fma(f[1].im, f[0].im, fma(f[1].re, f[0].re, sum[1]));
    sum[2] = fnma(f[1].im, f[0].re, fma(f[1].re, f[0].im, sum[2]));
  }
};

/// Conjugate gradient:  x += alpha p;  p = r + beta p.
struct CgSolutionDirection {
  static constexpr const char* name = "blas.cg_solution_direction";
  static constexpr Use uses[] = {Use::inout, Use::inout, Use::in};
  static constexpr int coefficients = 2, sums = 0, flops = 16;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V> (&c)[2], V*) {
    f[0] = site::multiply_add(c[0], f[1], f[0]);
    f[1] = site::multiply_add(c[1], f[1], f[2]);
  }
};

/// BiCGStab:  x += alpha p + omega s;  r = s - omega t;  |r|^2, <r0, r>.  Fields: x, r (s on entry), p, t, r0; alpha, omega, -omega.
struct BicgstabSolutionResidual {
  static constexpr const char* name = "blas.bicgstab_solution_residual";
  static constexpr Use uses[] = {Use::inout, Use::inout, Use::in, Use::in, Use::in};
  static constexpr int coefficients = 3, sums = 3, flops = 36;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[5], const site::Complex<V> (&c)[3], V* sum) {
    f[0] = site::multiply_add(c[0], f[2], site::multiply_add(c[1], f[1], f[0]));
    f[1] = site::multiply_add(c[2], f[3], f[1]);
    sum[0] = fma(f[1].im, f[1].im, fma(f[1].re, f[1].re, sum[0]));
    sum[1] = fma(f[4].im, f[1].im, fma(f[4].re, f[1].re, sum[1]));
    sum[2] = fnma(f[4].im, f[1].re, fma(f[4].re, f[1].im, sum[2]));
  }
};

/// BiCGStab:  p = r + beta (p - omega v).  Fields: p, r, v; beta, -omega.
struct BicgstabDirection {
  static constexpr const char* name = "blas.bicgstab_direction";
  static constexpr Use uses[] = {Use::inout, Use::in, Use::in};
  static constexpr int coefficients = 2, sums = 0, flops = 16;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V> (&c)[2], V*) {
    f[0] = site::multiply_add(c[0], site::multiply_add(c[1], f[2], f[0]), f[1]);
  }
};

/// p = r + beta p.
struct Direction {
  static constexpr const char* name = "blas.direction";
  static constexpr Use uses[] = {Use::inout, Use::in};
  static constexpr int coefficients = 1, sums = 0, flops = 8;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[2], const site::Complex<V> (&c)[1], V*) {
    f[0] = site::multiply_add(c[0], f[0], f[1]);
  }
};

/// Multi-shift conjugate gradient:  x += alpha p;  p = zeta r + beta p.
struct ShiftedSolutionDirection {
  static constexpr const char* name = "blas.shifted_solution_direction";
  static constexpr Use uses[] = {Use::inout, Use::inout, Use::in};
  static constexpr int coefficients = 3, sums = 0, flops = 22;
  template <class V>
  static QUARKSTAR_HD void apply(site::Complex<V> (&f)[3], const site::Complex<V> (&c)[3], V*) {
    f[0] = site::multiply_add(c[0], f[1], f[0]);
    f[1] = site::multiply_add(c[2], f[1], site::multiply(c[1], f[2]));
  }
};

/// Every operation: kernels and codelets are made for each of these. A new one is a struct above and a line here.
#define QUARKSTAR_FOR_BLAS_OPERATIONS(DO) \
  DO(Fill)                                \
  DO(Scale)                               \
  DO(AddScaled)                           \
  DO(AddScaledNorm)                       \
  DO(AddScaledPair)                       \
  DO(Dot)                                 \
  DO(DotPair)                             \
  DO(Norm)                                \
  DO(Magnitudes)                          \
  DO(NormDot)                             \
  DO(CgSolutionDirection)                 \
  DO(Direction)                           \
  DO(ShiftedSolutionDirection)            \
  DO(BicgstabSolutionResidual)            \
  DO(BicgstabDirection)

template <class Operation>
inline constexpr int field_count = static_cast<int>(sizeof(Operation::uses) / sizeof(Use));

}  // namespace quarkstar::blas
