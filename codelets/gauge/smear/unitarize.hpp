#pragma once
// The unitary factor of a 3x3 matrix, with operations that IEEE 754 rounds the same way everywhere: host and GPU agree in every bit.
#include "runtime/gpu/host_device.hpp"

#include <cmath>
#include <cstddef>

namespace quarkstar::smear {

struct ComplexNumber {
  double re, im;
};
QUARKSTAR_HD ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return {a.re + b.re, a.im + b.im}; }
QUARKSTAR_HD ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return {a.re - b.re, a.im - b.im}; }
QUARKSTAR_HD ComplexNumber operator*(double a, ComplexNumber b) { return {a * b.re, a * b.im}; }
QUARKSTAR_HD ComplexNumber operator*(ComplexNumber a, ComplexNumber b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
QUARKSTAR_HD ComplexNumber conj(ComplexNumber a) { return {a.re, -a.im}; }
QUARKSTAR_HD double norm2(ComplexNumber a) { return a.re * a.re + a.im * a.im; }

/// Row-major.
struct ComplexMatrix {
  ComplexNumber e[3][3];
};

/// c = a b.
QUARKSTAR_HD void multiply(ComplexMatrix& c, const ComplexMatrix& a, const ComplexMatrix& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c.e[i][j] = a.e[i][0] * b.e[0][j] + a.e[i][1] * b.e[1][j] + a.e[i][2] * b.e[2][j];
}

/// c = a^+ b.
QUARKSTAR_HD void adjoint_multiply(ComplexMatrix& c, const ComplexMatrix& a, const ComplexMatrix& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c.e[i][j] = conj(a.e[0][i]) * b.e[0][j] + conj(a.e[1][i]) * b.e[1][j] + conj(a.e[2][i]) * b.e[2][j];
}

QUARKSTAR_HD ComplexNumber determinant(const ComplexMatrix& a) {
  return a.e[0][0] * (a.e[1][1] * a.e[2][2] - a.e[1][2] * a.e[2][1]) + a.e[0][1] * (a.e[1][2] * a.e[2][0] - a.e[1][0] * a.e[2][2]) +
         a.e[0][2] * (a.e[1][0] * a.e[2][1] - a.e[1][1] * a.e[2][0]);
}

/// w = v (v^+ v)^(-1/2) by the theorem of Cayley and Hamilton: Q^(-1/2) = f0 + f1 Q + f2 Q^2 for Q = v^+ v. False, with w unchanged,
/// where singular values differ so much (the smallest below about 1/40 of the largest) that rounding would show: errors grow with the
/// square of their ratio, here to 1e-12 at most.
///
/// With the singular values s_i of v, u = sum s_i, c = sum_{i<j} s_i s_j, d = s_1 s_2 s_3 = |det v|:
///   f2 = u / D, f1 = (2 u c - d - u^3) / D, f0 = (u c^2 - d (u^2 + c)) / D, D = d (u c - d).
/// They need no eigenvalues: with t = tr Q and m = the sum of Q's principal minors, u^2 = t + 2 c and c^2 = m + 2 u d, so u is the
/// largest root of (u^2 - t)^2 = 4 m + 8 u d. Newton's iteration from sqrt(3 t) >= u falls monotonically onto it; for v near U(3) the
/// start is nearly the root. So no cosine of a third of an angle, which every library rounds differently.
/// Source of the f_i: Hasenfratz, Hoffmann and Schaefer, hep-lat/0702028. About 1 kflop.
QUARKSTAR_HD bool unitarize_analytic(ComplexMatrix& w, const ComplexMatrix& v) {
  constexpr double least_ratio = 0.05;  // of the geometric to the arithmetic mean of the s_i^2, to the power 3/2
  constexpr int most_iterations = 60;
  ComplexMatrix q, q2;
  adjoint_multiply(q, v, v);
  const double t = q.e[0][0].re + q.e[1][1].re + q.e[2][2].re;
  const double m = (q.e[0][0].re * q.e[1][1].re - norm2(q.e[0][1])) + (q.e[0][0].re * q.e[2][2].re - norm2(q.e[0][2])) +
                   (q.e[1][1].re * q.e[2][2].re - norm2(q.e[1][2]));
  const double d = sqrt(norm2(determinant(v)));
  const double third = t / 3;
  if (!(d > least_ratio * (third * sqrt(third)))) return false;
  double u = sqrt(3 * t);
  for (int i = 0; i < most_iterations; ++i) {
    const double excess = u * u - t;
    const double next = u - (excess * excess - 4 * m - 8 * (u * d)) / (4 * (u * excess) - 8 * d);
    if (!(next < u)) break;
    u = next;
  }
  const double c = 0.5 * (u * u - t);
  const double scale = 1 / (d * (u * c - d));
  const double f2 = u * scale, f1 = (2 * (u * c) - d - u * (u * u)) * scale, f0 = (u * (c * c) - d * (u * u + c)) * scale;
  multiply(q2, q, q);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) q.e[i][j] = f1 * q.e[i][j] + f2 * q2.e[i][j];
  for (int i = 0; i < 3; ++i) q.e[i][i].re += f0;
  multiply(w, v, q);
  return true;
}

/// Makes columns p and q of v orthogonal by a unitary rotation of the two, applied to z too. False where they were already.
QUARKSTAR_HD bool rotate_columns(ComplexMatrix& v, ComplexMatrix& z, int p, int q) {
  constexpr double smallest_cosine2 = 1e-32;
  double a = 0, b = 0;
  ComplexNumber overlap{0, 0};
  for (int i = 0; i < 3; ++i) {
    a += norm2(v.e[i][p]);
    b += norm2(v.e[i][q]);
    overlap = overlap + conj(v.e[i][p]) * v.e[i][q];
  }
  const double length2 = norm2(overlap);
  if (!(length2 > smallest_cosine2 * a * b)) return false;
  const double length = sqrt(length2);
  const ComplexNumber phase = (1 / length) * overlap;
  const double zeta = (b - a) / (2 * length);
  const double tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  const double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
  ComplexMatrix* const rotated[] = {&v, &z};
  for (ComplexMatrix* matrix : rotated)
    for (int i = 0; i < 3; ++i) {
      const ComplexNumber left = matrix->e[i][p], right = conj(phase) * matrix->e[i][q];
      matrix->e[i][p] = cosine * left - sine * right;
      matrix->e[i][q] = sine * left + cosine * right;
    }
  return true;
}

/// Column k of u = conj(column i x column j), with which u has determinant 1 for orthonormal i, j and cyclic i, j, k.
QUARKSTAR_HD void complete_column(ComplexMatrix& u, int i, int j, int k) {
  for (int row = 0; row < 3; ++row) {
    const int r1 = (row + 1) % 3, r2 = (row + 2) % 3;
    u.e[row][k] = conj(u.e[r1][i] * u.e[r2][j] - u.e[r2][i] * u.e[r1][j]);
  }
}

/// Column j of u = the unit vector along the axis least in column i, made orthogonal to that column and normalised.
QUARKSTAR_HD void complete_from_axis(ComplexMatrix& u, int i, int j) {
  int axis = 0;
  for (int row = 1; row < 3; ++row)
    if (norm2(u.e[row][i]) < norm2(u.e[axis][i])) axis = row;
  const ComplexNumber overlap = conj(u.e[axis][i]);
  const double scale = 1 / sqrt(1 - norm2(overlap));
  for (int row = 0; row < 3; ++row) u.e[row][j] = scale * (ComplexNumber{row == axis ? 1.0 : 0.0, 0} - overlap * u.e[row][i]);
}

/// w = the unitary factor of v through its singular value decomposition, v = x s z^+, w = x z^+, for any finite v: columns are made
/// orthogonal in pairs (one-sided Jacobi; Hestenes, J. SIAM 6 (1958) 51), which also finds the directions of tiny columns to full
/// precision. Columns that vanish (below 1e-20 of the largest) have no direction; they become any that complete the others, such that
/// det x = 1. For v = 0, w = 1.
QUARKSTAR_HD void unitarize_by_svd(ComplexMatrix& w, const ComplexMatrix& v) {
  constexpr double vanishing = 1e-40;
  constexpr int most_sweeps = 40;
  ComplexMatrix x = v, z{};
  for (int i = 0; i < 3; ++i) z.e[i][i].re = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = rotate_columns(x, z, 0, 1);
    rotated = rotate_columns(x, z, 0, 2) || rotated;
    rotated = rotate_columns(x, z, 1, 2) || rotated;
    if (!rotated) break;
  }
  double length2[3], largest = 0;
  for (int k = 0; k < 3; ++k) {
    length2[k] = norm2(x.e[0][k]) + norm2(x.e[1][k]) + norm2(x.e[2][k]);
    if (length2[k] > largest) largest = length2[k];
  }
  int found = 0, longest = 0, missing = 0;
  for (int k = 0; k < 3; ++k) {
    if (length2[k] > length2[longest]) longest = k;
    if (!(length2[k] > vanishing * largest)) {
      missing = k;
      continue;
    }
    ++found;
    const double scale = 1 / sqrt(length2[k]);
    for (int i = 0; i < 3; ++i) x.e[i][k] = scale * x.e[i][k];
  }
  if (found == 0) {
    x = z;
  } else if (found == 1) {
    complete_from_axis(x, longest, (longest + 1) % 3);
    complete_column(x, longest, (longest + 1) % 3, (longest + 2) % 3);
  } else if (found == 2) {
    complete_column(x, (missing + 1) % 3, (missing + 2) % 3, missing);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) w.e[i][j] = x.e[i][0] * conj(z.e[j][0]) + x.e[i][1] * conj(z.e[j][1]) + x.e[i][2] * conj(z.e[j][2]);
}

/// w = v (v^+ v)^(-1/2), the U(3) matrix nearest to v. v: finite.
QUARKSTAR_HD void unitarize(ComplexMatrix& w, const ComplexMatrix& v) {
  if (!unitarize_analytic(w, v)) unitarize_by_svd(w, v);
}

/// The same in place, for a link whose 18 reals are `stride` apart.
QUARKSTAR_HD void unitarize_in_place(double* link, std::ptrdiff_t stride) {
  ComplexMatrix v, w;
  for (int i = 0; i < 9; ++i) v.e[i / 3][i % 3] = {link[2 * i * stride], link[(2 * i + 1) * stride]};
  unitarize(w, v);
  for (int i = 0; i < 9; ++i) {
    link[2 * i * stride] = w.e[i / 3][i % 3].re;
    link[(2 * i + 1) * stride] = w.e[i / 3][i % 3].im;
  }
}

}  // namespace quarkstar::smear
