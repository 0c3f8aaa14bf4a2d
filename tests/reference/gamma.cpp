#include "tests/reference/gamma.hpp"

namespace quarkstar::reference {
namespace {

constexpr Complex I = imaginary_unit;

/// Pauli matrices s_1, s_2, s_3; pauli(0) = 1.
Matrix<2> pauli(int k) {
  switch (k) {
    case 1:
      return {{0.0, 1.0, 1.0, 0.0}};
    case 2:
      return {{0.0, -I, I, 0.0}};
    case 3:
      return {{1.0, 0.0, 0.0, -1.0}};
    default:
      return Matrix<2>::identity();
  }
}

/// ((a, b), (c, d)) from 2x2 blocks.
Matrix<4> blocks(const Matrix<2>& a, const Matrix<2>& b, const Matrix<2>& c, const Matrix<2>& d) {
  Matrix<4> m;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m(i, j) = a(i, j);
      m(i, j + 2) = b(i, j);
      m(i + 2, j) = c(i, j);
      m(i + 2, j + 2) = d(i, j);
    }
  }
  return m;
}

const Matrix<2> zero{};

Matrix<4> gamma_degrand_rossi(int mu) {
  if (mu == 3) return blocks(zero, pauli(0), pauli(0), zero);
  const Complex upper = mu == 1 ? -I : I;
  return blocks(zero, upper * pauli(mu + 1), -upper * pauli(mu + 1), zero);
}

Matrix<4> gamma_dirac_pauli(int mu) {
  if (mu == 3) return blocks(pauli(0), zero, zero, -1.0 * pauli(0));
  return blocks(zero, -I * pauli(mu + 1), I * pauli(mu + 1), zero);
}

}  // namespace

Matrix<4> gamma(Basis basis, int mu) { return basis == Basis::degrand_rossi ? gamma_degrand_rossi(mu) : gamma_dirac_pauli(mu); }

Matrix<4> gamma5(Basis basis) { return gamma(basis, 0) * gamma(basis, 1) * gamma(basis, 2) * gamma(basis, 3); }

Matrix<4> sigma(Basis basis, int mu, int nu) {
  const Matrix<4> product = gamma(basis, mu) * gamma(basis, nu) - gamma(basis, nu) * gamma(basis, mu);
  return 0.5 * I * product;
}

Matrix<4> dirac_pauli_to_degrand_rossi() {
  const Matrix<2> s2 = pauli(2);
  return I / std::sqrt(2.0) * blocks(s2, -1.0 * s2, s2, s2);
}

}  // namespace quarkstar::reference
