#pragma once
// 3x3 complex matrices in double precision for the gauge sector: plain arrays, fixed order of operations.
#include <algorithm>
#include <cmath>
#include <cstring>

namespace quarkstar::gauge {

/// One complex number (re, im) as a two-lane vector, which every 64-bit architecture has in hardware: half the
/// instructions of scalar code without flags for one processor.
using Complex = double __attribute__((vector_size(16)));

inline Complex broadcast(double value) { return Complex{value, value}; }
inline Complex times_i(Complex z) { return Complex{-z[1], z[0]}; }
inline Complex conj(Complex z) { return Complex{z[0], -z[1]}; }
inline Complex multiply(Complex a, Complex b) { return broadcast(a[0]) * b + broadcast(a[1]) * times_i(b); }
/// Re(conj(a) b)
inline double real_dot(Complex a, Complex b) { return a[0] * b[0] + a[1] * b[1]; }

/// Row-major.
struct Matrix3 {
  Complex e[3][3];

  static Matrix3 zero() { return Matrix3{}; }
  static Matrix3 load(const double* reals) {
    Matrix3 m;
    std::memcpy(&m, reals, sizeof m);
    return m;
  }
  void store(double* reals) const { std::memcpy(reals, this, sizeof *this); }
};
static_assert(sizeof(Matrix3) == 18 * sizeof(double));

/// a b. 198 flop.
inline Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      c.e[i][j] = multiply(a.e[i][0], b.e[0][j]) + multiply(a.e[i][1], b.e[1][j]) + multiply(a.e[i][2], b.e[2][j]);
  return c;
}

/// a b^+. 198 flop.
inline Matrix3 multiply_adjoint(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Complex sum{};
      for (int k = 0; k < 3; ++k) sum += broadcast(b.e[j][k][0]) * a.e[i][k] - broadcast(b.e[j][k][1]) * times_i(a.e[i][k]);
      c.e[i][j] = sum;
    }
  return c;
}

/// a^+ b. 198 flop.
inline Matrix3 adjoint_multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Complex sum{};
      for (int k = 0; k < 3; ++k) sum += broadcast(a.e[k][i][0]) * b.e[k][j] - broadcast(a.e[k][i][1]) * times_i(b.e[k][j]);
      c.e[i][j] = sum;
    }
  return c;
}

inline void add(Matrix3& sum, const Matrix3& term) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum.e[i][j] += term.e[i][j];
}

/// Re tr(a b^+)
inline double real_trace_adjoint(const Matrix3& a, const Matrix3& b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += real_dot(a.e[i][j], b.e[i][j]);
  return sum;
}

/// conj(a x b), the third row of the SU(3) matrix whose first rows are a and b.
inline void conjugate_cross(const Complex (&a)[3], const Complex (&b)[3], Complex (&c)[3]) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c[i] = conj(multiply(a[j], b[k]) - multiply(a[k], b[j]));
  }
}

inline double norm2(const Complex (&row)[3]) { return real_dot(row[0], row[0]) + real_dot(row[1], row[1]) + real_dot(row[2], row[2]); }

/// Divides a row by its length. False where the squared length is not above smallest_norm2, or overflows.
inline bool normalise(Complex (&row)[3], double smallest_norm2) {
  const double length2 = norm2(row);
  const Complex factor = broadcast(1.0 / std::sqrt(length2));
  for (Complex& z : row) z *= factor;
  return length2 > smallest_norm2 && length2 < 1e200;
}

/// Projects onto SU(3): row 0 normalised, row 1 made orthogonal to it and normalised, row 2 = conj(row 0 x row 1)
/// (MILC's choice). False, with a matrix of no use, where an entry is not finite or the first two rows are nearer than
/// 1e-4 to linear dependence: rounding would leave them visibly not orthogonal.
inline bool reunitarize(Matrix3& u) {
  const bool first = normalise(u.e[0], 1e-200);
  const double before = norm2(u.e[1]);
  Complex overlap{};
  for (int j = 0; j < 3; ++j) overlap += multiply(conj(u.e[0][j]), u.e[1][j]);
  for (int j = 0; j < 3; ++j) u.e[1][j] -= multiply(overlap, u.e[0][j]);
  const bool second = normalise(u.e[1], std::max(1e-200, 1e-8 * before));
  conjugate_cross(u.e[0], u.e[1], u.e[2]);
  return first && second;
}

}  // namespace quarkstar::gauge
