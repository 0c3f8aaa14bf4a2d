#pragma once
// Products of gamma matrices in the DeGrand-Rossi basis (docs/conventions.md, section 1), for the compiler to compute with.
#include "codelets/spin/spin.hpp"

namespace quarkstar::contract {

/// A spin matrix with one entry in each row at most: row a has i^power[a] in column a ^ flip, or nothing where the power is `none`.
struct SpinMatrix {
  static constexpr int none = -1;
  int flip = 0;
  int power[4]{};

  friend constexpr SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b) {
    SpinMatrix product{a.flip ^ b.flip, {}};
    for (int row = 0; row < 4; ++row) {
      const int first = a.power[row], second = b.power[row ^ a.flip];
      product.power[row] = first == none || second == none ? none : (first + second) % 4;
    }
    return product;
  }
  constexpr SpinMatrix transposed() const {
    SpinMatrix other{flip, {}};
    for (int row = 0; row < 4; ++row) other.power[row] = power[row ^ flip];
    return other;
  }
  constexpr SpinMatrix adjoint() const {
    SpinMatrix other = transposed();
    for (int& p : other.power) p = p == none ? none : (4 - p) % 4;
    return other;
  }
  /// i^n times the matrix.
  constexpr SpinMatrix times_i(int n) const {
    SpinMatrix other = *this;
    for (int& p : other.power) p = p == none ? none : (p + n) % 4;
    return other;
  }
  /// (a + b) / 2 of two with entries in the same places, each of which is equal or opposite.
  static constexpr SpinMatrix mean(const SpinMatrix& a, const SpinMatrix& b) {
    SpinMatrix other = a;
    for (int row = 0; row < 4; ++row)
      if (a.power[row] != b.power[row]) other.power[row] = none;
    return other;
  }
};

/// g_mu, mu = 0..3 = x, y, z, t.
constexpr SpinMatrix spin_gamma(int mu) {
  SpinMatrix gamma{site::gamma_entry(mu, 0).column, {}};
  for (int row = 0; row < 4; ++row) gamma.power[row] = site::gamma_entry(mu, row).power;
  return gamma;
}
inline constexpr SpinMatrix spin_gamma5{0, {0, 0, 2, 2}};

/// G_n = g_1^b0 g_2^b1 g_3^b2 g_4^b3, n = b0 + 2 b1 + 4 b2 + 8 b3.
constexpr SpinMatrix spin_basis(int n) {
  SpinMatrix product;
  for (int mu = 0; mu < 4; ++mu)
    if ((n >> mu & 1) != 0) product = product * spin_gamma(mu);
  return product;
}

}  // namespace quarkstar::contract
