#pragma once
// Links of 8 reals: an SU(3) matrix by two stereographic projections, without a square root, an angle or a small denominator.
//
// Row 0 is s a, a unit vector of C^3 with Re a_0 >= 0 and a sign s. Projected from -e_0 it is a point y of the unit ball of R^5:
//   a = (1 - |y|^2 + 2i y_0, 2 Y_1, 2 Y_2) / (1 + |y|^2),   Y_1 = y_1 + i y_2,  Y_2 = y_3 + i y_4.
// G = 1 - (e_0 + a)(e_0 + a)^+ / (1 + a_0*) is unitary and takes e_0 to -a, so g_1 = G e_1 and g_2 = G e_2 span the rows orthogonal to a.
// Row 1 is t b with b = beta_1 g_1 + beta_2 g_2, Re beta_1 >= 0 and a sign t; (beta_1, beta_2), a unit vector of C^2, becomes a point z of
// the unit ball of R^3 in the same way. With K = (Y_1* beta_1 + Y_2* beta_2) (1 + i y_0) / (1 + y_0^2):
//   b = (-(1 + i y_0) q K,  beta_1 - Y_1 q K,  beta_2 - Y_2 q K),   q = 2 / (1 + |y|^2).
// Row 2 is (row 0 x row 1)*. The last bits of y_0 and z_0 hold the signs. All denominators are between 1 and 2, and no derivative is
// larger than a few, so every matrix, the unit matrix too, comes back to a few roundings; links that are nearly singular in the
// parametrisation of Bunk and Sommer (Comput. Phys. Commun. 40, 229) or of Clark et al. (0911.3191) are as good as any other.
#include "codelets/field/storage.hpp"
#include "codelets/su3/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace quarkstar::site {

/// Where the signs of rows 0 and 1 are among the stored numbers y_0 ... y_4, z_0 ... z_2.
inline constexpr int sign_of_row0 = 0, sign_of_row1 = 5;

/// Rows 0 and 1, times `size`, from the parameters p; flag0 and flag1: packs whose last bit holds the signs. 97 flop and one division.
template <class V>
QUARKSTAR_HD void expand_rows(Link<V>& u, const V (&p)[8], V flag0, V flag1, V size) {
  const V one = V::broadcast(1), two = V::broadcast(2);
  const V n = fma(p[4], p[4], fma(p[3], p[3], fma(p[2], p[2], fma(p[1], p[1], p[0] * p[0]))));
  const V m = fma(p[7], p[7], fma(p[6], p[6], p[5] * p[5]));
  const V row = one + n, column = one + m, tilt = fma(p[0], p[0], one);
  const V inverse = (row * column * tilt).reciprocal();
  const V d = inverse * (column * tilt);                                       // 1 / (1 + |y|^2)
  const V e = (size * (inverse * (row * tilt))).flip_sign_by_last_bit(flag1);  // t size / (1 + |z|^2)
  const V k = inverse * (row * column);                                        // 1 / (1 + y_0^2)
  const V a = (size * d).flip_sign_by_last_bit(flag0), a2 = two * a, e2 = two * e, q = two * d;
  const Complex<V> y1{p[1], p[2]}, y2{p[3], p[4]}, tilted{one, p[0]};
  u[0][0] = {a * (one - n), a2 * p[0]};
  u[0][1] = {a2 * p[1], a2 * p[2]};
  u[0][2] = {a2 * p[3], a2 * p[4]};
  const Complex<V> beta1{e * (one - m), e2 * p[5]}, beta2{e2 * p[6], e2 * p[7]};
  const Complex<V> overlap = conjugate_multiply_add(y2, beta2, conjugate_multiply(y1, beta1));
  const Complex<V> turned = multiply(tilted, overlap);
  const V minus_qk = -(q * k);
  const Complex<V> step{turned.re * minus_qk, turned.im * minus_qk};  // -q K
  u[1][0] = multiply(tilted, step);
  u[1][1] = multiply_add(y1, step, beta1);
  u[1][2] = multiply_add(y2, step, beta2);
}

/// The parameters of an SU(3) matrix before rounding.
struct CompactLink {
  double p[8];
  bool minus[2];  ///< signs of rows 0 and 1
};

/// link: 9 complex numbers, row by row; rows need not be exactly orthonormal.
inline CompactLink compact_link(const double* link) {
  using Number = std::complex<double>;
  const auto entry = [link](int i) { return Number(link[2 * i], link[2 * i + 1]); };
  CompactLink c{};
  Number a[3], beta[2];
  double length2 = 0;
  for (int i = 0; i < 3; ++i) length2 += std::norm(entry(i));
  c.minus[0] = entry(0).real() < 0;
  for (int i = 0; i < 3; ++i) a[i] = entry(i) * ((c.minus[0] ? -1 : 1) / std::sqrt(length2));
  const double y_scale = 1 / (1 + a[0].real());
  const double y[] = {a[0].imag(), a[1].real(), a[1].imag(), a[2].real(), a[2].imag()};
  for (int i = 0; i < 5; ++i) c.p[i] = y[i] * y_scale;
  // <g_j, row 1>
  // Not by the operator: compilers' libraries divide in different ways. |1 + a_0| >= 1, so nothing overflows.
  const Number divisor = Number(1) + a[0];
  const Number along = entry(3) * std::conj(divisor) * (1 / std::norm(divisor));
  for (int j = 0; j < 2; ++j) beta[j] = entry(4 + j) - a[1 + j] * along;
  c.minus[1] = beta[0].real() < 0;
  const double size = (c.minus[1] ? -1 : 1) / std::sqrt(std::norm(beta[0]) + std::norm(beta[1]));
  const double z_scale = size / (1 + beta[0].real() * size);
  const double z[] = {beta[0].imag(), beta[1].real(), beta[1].imag()};
  for (int i = 0; i < 3; ++i) c.p[5 + i] = z[i] * z_scale;
  return c;
}

/// The number of type T nearest to x, but at least 2^-60 in size, whose last bit is `bit`.
template <class T>
T with_last_bit(double x, bool bit) {
  const auto last_bit = [](T y) {
    if constexpr (sizeof(T) == 8) return (__builtin_bit_cast(std::uint64_t, y) & 1) != 0;
    else return (__builtin_bit_cast(std::uint32_t, y) & 1) != 0;
  };
  constexpr double smallest = 0x1p-60;  // far from numbers that processors are slow with
  if (std::abs(x) < smallest) x = bit ? smallest : 0;
  const T rounded = static_cast<T>(x);
  if (last_bit(rounded) == bit) return rounded;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T above = std::nextafter(rounded, infinity), below = std::nextafter(rounded, -infinity);
  return static_cast<double>(above) - x < x - static_cast<double>(below) ? above : below;
}

/// The integer of at most fixed_point_most in size nearest to x fixed_point_most that is odd if `bit` is set, else even.
inline float fixed_point_with_last_bit(double x, bool bit) {
  const double scaled = x * static_cast<double>(fixed_point_most);
  const double even = std::clamp(2 * std::nearbyint(0.5 * scaled), -32766.0, 32766.0), odd = 2 * std::floor(0.5 * scaled) + 1;
  return static_cast<float>(bit ? odd : even);
}

}  // namespace quarkstar::site
