#pragma once
// Spin matrices of the DeGrand-Rossi basis: every product of gamma matrices has one non-zero entry in each row.
#include <array>
#include <complex>

namespace quarkstar {

/// Row a has the entry phase[a] in column column[a] and zeros elsewhere.
struct SpinMatrix {
  std::array<int, 4> column{};
  std::array<std::complex<double>, 4> phase{};
};

/// Unit matrix.
SpinMatrix spin_unit();

/// Euclidean, hermitian g_mu, mu = 0..3 = x, y, z, t: g_k = ((0, i s_k), (-i s_k, 0)) with s_2 of the opposite sign,
/// g_4 = ((0, 1), (1, 0)) (docs/conventions.md, section 1).
SpinMatrix spin_gamma(int mu);

/// g_5 = g_1 g_2 g_3 g_4 = diag(1, 1, -1, -1).
SpinMatrix spin_gamma5();

SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b);

}  // namespace quarkstar
