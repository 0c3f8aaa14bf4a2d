#pragma once
// The unitary matrices nearest to a 3x3 matrix, with operations that IEEE 754 rounds the same way everywhere: host and GPU agree in every
// bit.
#include "codelets/su3/matrix.hpp"

#include <cmath>

namespace quarkstar::site {

/// Divides a row by its length. False where the squared length is not above smallest_norm2, or overflows.
QUARKSTAR_HD bool normalise(Complex<double> (&row)[3], double smallest_norm2) {
  const double length2 = norm2(row[0], row[1], row[2]), factor = 1.0 / sqrt(length2);
  for (Complex<double>& z : row) z = scaled(factor, z);
  return length2 > smallest_norm2 && length2 < 1e200;
}

/// Projects onto SU(3): row 0 normalised, row 1 made orthogonal to it and normalised, row 2 = (row 0 x row 1)* (MILC's choice). False, with
/// a matrix of no use, where an entry is not finite or the first two rows are nearer than 1e-4 to linear dependence: rounding would leave
/// them visibly not orthogonal.
QUARKSTAR_HD bool reunitarize(Link<double>& u) {
  const bool first = normalise(u[0], 1e-200);
  const double smallest = 1e-8 * norm2(u[1][0], u[1][1], u[1][2]);
  Complex<double> overlap{};
  for (int j = 0; j < 3; ++j) overlap = conjugate_multiply_add(u[0][j], u[1][j], overlap);
  for (int j = 0; j < 3; ++j) u[1][j] = u[1][j] - multiply(overlap, u[0][j]);
  const bool second = normalise(u[1], smallest > 1e-200 ? smallest : 1e-200);
  reconstruct_row(u);
  return first && second;
}

QUARKSTAR_HD Complex<double> determinant(const Link<double>& a) {
  const auto cofactor = [&a](int i, int j) { return multiply(a[1][i], a[2][j]) - multiply(a[1][j], a[2][i]); };
  return multiply(a[0][0], cofactor(1, 2)) + multiply(a[0][1], cofactor(2, 0)) + multiply(a[0][2], cofactor(0, 1));
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
QUARKSTAR_HD bool unitarize_analytic(Link<double>& w, const Link<double>& v) {
  constexpr double least_ratio = 0.05;  // of the geometric to the arithmetic mean of the s_i^2, to the power 3/2
  constexpr int most_iterations = 60;
  Link<double> q = adjoint_multiply(v, v);
  const double t = q[0][0].re + q[1][1].re + q[2][2].re;
  const double m =
      (q[0][0].re * q[1][1].re - norm2(q[0][1])) + (q[0][0].re * q[2][2].re - norm2(q[0][2])) + (q[1][1].re * q[2][2].re - norm2(q[1][2]));
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
  q = scaled(f1, q) + scaled(f2, multiply(q, q));
  for (int i = 0; i < 3; ++i) q[i][i].re += f0;
  w = multiply(v, q);
  return true;
}

/// Makes columns p and q of v orthogonal by a unitary rotation of the two, applied to z too. False where they were already.
QUARKSTAR_HD bool rotate_columns(Link<double>& v, Link<double>& z, int p, int q) {
  constexpr double smallest_cosine2 = 1e-32;
  double a = 0, b = 0;
  Complex<double> overlap{0, 0};
  for (int i = 0; i < 3; ++i) {
    a += norm2(v[i][p]);
    b += norm2(v[i][q]);
    overlap = conjugate_multiply_add(v[i][p], v[i][q], overlap);
  }
  const double length2 = norm2(overlap);
  if (!(length2 > smallest_cosine2 * a * b)) return false;
  const double length = sqrt(length2);
  const Complex<double> phase = scaled(1 / length, overlap);
  const double zeta = (b - a) / (2 * length);
  const double tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  const double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
  Link<double>* const rotated[] = {&v, &z};
  for (Link<double>* matrix : rotated)
    for (int i = 0; i < 3; ++i) {
      const Complex<double> left = (*matrix)[i][p], right = conjugate_multiply(phase, (*matrix)[i][q]);
      (*matrix)[i][p] = scaled(cosine, left) - scaled(sine, right);
      (*matrix)[i][q] = scaled(sine, left) + scaled(cosine, right);
    }
  return true;
}

/// Column k of u = conj(column i x column j), with which u has determinant 1 for orthonormal i, j and cyclic i, j, k.
QUARKSTAR_HD void complete_column(Link<double>& u, int i, int j, int k) {
  for (int row = 0; row < 3; ++row) {
    const int r1 = (row + 1) % 3, r2 = (row + 2) % 3;
    u[row][k] = conjugate_cross(u[r1][i], u[r2][j], u[r2][i], u[r1][j]);
  }
}

/// Column j of u = the unit vector along the axis least in column i, made orthogonal to that column and normalised.
QUARKSTAR_HD void complete_from_axis(Link<double>& u, int i, int j) {
  int axis = 0;
  for (int row = 1; row < 3; ++row)
    if (norm2(u[row][i]) < norm2(u[axis][i])) axis = row;
  const Complex<double> overlap = conj(u[axis][i]);
  const double scale = 1 / sqrt(1 - norm2(overlap));
  for (int row = 0; row < 3; ++row) u[row][j] = scaled(scale, Complex<double>{row == axis ? 1.0 : 0.0, 0} - multiply(overlap, u[row][i]));
}

/// w = the unitary factor of v through its singular value decomposition, v = x s z^+, w = x z^+, for any finite v: columns are made
/// orthogonal in pairs (one-sided Jacobi; Hestenes, J. SIAM 6 (1958) 51), which also finds the directions of tiny columns to full
/// precision. Columns that vanish (below 1e-20 of the largest) have no direction; they become any that complete the others, such that
/// det x = 1. For v = 0, w = 1.
QUARKSTAR_HD void unitarize_by_svd(Link<double>& w, const Link<double>& v) {
  constexpr double vanishing = 1e-40;
  constexpr int most_sweeps = 40;
  Link<double> x = v, z{};
  for (int i = 0; i < 3; ++i) z[i][i].re = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = rotate_columns(x, z, 0, 1);
    rotated = rotate_columns(x, z, 0, 2) || rotated;
    rotated = rotate_columns(x, z, 1, 2) || rotated;
    if (!rotated) break;
  }
  double length2[3], largest = 0;
  for (int k = 0; k < 3; ++k) {
    length2[k] = norm2(x[0][k], x[1][k], x[2][k]);
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
    for (int i = 0; i < 3; ++i) x[i][k] = scaled(scale, x[i][k]);
  }
  if (found == 0) {
    x = z;
  } else if (found == 1) {
    complete_from_axis(x, longest, (longest + 1) % 3);
    complete_column(x, longest, (longest + 1) % 3, (longest + 2) % 3);
  } else if (found == 2) {
    complete_column(x, (missing + 1) % 3, (missing + 2) % 3, missing);
  }
  w = multiply_adjoint(x, z);
}

/// w = v (v^+ v)^(-1/2), the U(3) matrix nearest to v. v: finite.
QUARKSTAR_HD void unitarize(Link<double>& w, const Link<double>& v) {
  if (!unitarize_analytic(w, v)) unitarize_by_svd(w, v);
}

/// The same in place, for a link whose 18 reals are `stride` apart.
QUARKSTAR_HD void unitarize_in_place(double* link, std::ptrdiff_t stride) {
  Link<double> w;
  unitarize(w, read_link(link, stride));
  write_link(link, w, stride);
}

}  // namespace quarkstar::site
