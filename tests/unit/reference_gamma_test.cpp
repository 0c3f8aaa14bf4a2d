#include "tests/reference/gamma.hpp"
#include "tests/reference/random.hpp"

#include <doctest/doctest.h>

namespace reference_gamma_test {

using namespace quarkstar::reference;

namespace {

constexpr Complex I = imaginary_unit;

/// One row of docs/conventions.md, section 1: (1 + sign g_mu) s for s = (s1, s2, s3, s4).
struct HalfSpinor {
  int mu;
  double sign;
  std::array<Complex, 4> expected;
};

}  // namespace

TEST_CASE("reference: both gamma bases are hermitian and satisfy the Clifford algebra") {
  for (const Basis basis : {Basis::degrand_rossi, Basis::dirac_pauli}) {
    for (int mu = 0; mu < 4; ++mu) {
      CHECK(max_difference(gamma(basis, mu), adjoint(gamma(basis, mu))) == 0.0);
      for (int nu = 0; nu < 4; ++nu) {
        const Matrix<4> anticommutator = gamma(basis, mu) * gamma(basis, nu) + gamma(basis, nu) * gamma(basis, mu);
        const Complex expected = mu == nu ? 2.0 : 0.0;
        CHECK(max_difference(anticommutator, expected * Matrix<4>::identity()) == 0.0);
      }
      const Matrix<4> g5_anticommutator = gamma5(basis) * gamma(basis, mu) + gamma(basis, mu) * gamma5(basis);
      CHECK(max_difference(g5_anticommutator, Matrix<4>{}) == 0.0);
    }
    CHECK(max_difference(gamma5(basis) * gamma5(basis), Matrix<4>::identity()) == 0.0);
  }
}

TEST_CASE("reference: gamma5 is diag(1,1,-1,-1) in DeGrand-Rossi and ((0,-1),(-1,0)) in seed 1's basis") {
  Matrix<4> chiral;
  Matrix<4> off_diagonal;
  for (int i = 0; i < 4; ++i) {
    chiral(i, i) = i < 2 ? 1.0 : -1.0;
    off_diagonal(i, (i + 2) % 4) = -1.0;
  }
  CHECK(max_difference(gamma5(Basis::degrand_rossi), chiral) == 0.0);
  CHECK(max_difference(gamma5(Basis::dirac_pauli), off_diagonal) == 0.0);
}

TEST_CASE("reference: T rotates seed 1's gammas into DeGrand-Rossi's") {
  const Matrix<4> t = dirac_pauli_to_degrand_rossi();
  CHECK(max_difference(t * adjoint(t), Matrix<4>::identity()) < 1e-15);
  for (int mu = 0; mu < 4; ++mu)
    CHECK(max_difference(t * gamma(Basis::dirac_pauli, mu) * adjoint(t), gamma(Basis::degrand_rossi, mu)) < 1e-15);
}

TEST_CASE("reference: half-spinor table of seed 1") {
  const std::uint64_t seed = 20240501;
  CAPTURE(seed);
  Random random(seed);
  const Complex s1 = random.normal(), s2 = random.normal(), s3 = random.normal(), s4 = random.normal();
  const auto rows = [](int mu, double sign, Complex h1, Complex h2, Complex row3, Complex row4) {
    return HalfSpinor{mu, sign, {h1, h2, row3, row4}};
  };
  std::vector<HalfSpinor> table;
  {
    const Complex h1 = s1 + I * s4, h2 = s2 + I * s3;
    table.push_back(rows(0, -1.0, h1, h2, -I * h2, -I * h1));
  }
  {
    const Complex h1 = s1 - I * s4, h2 = s2 - I * s3;
    table.push_back(rows(0, +1.0, h1, h2, I * h2, I * h1));
  }
  {
    const Complex h1 = s1 + s4, h2 = s2 - s3;
    table.push_back(rows(1, -1.0, h1, h2, -h2, h1));
  }
  {
    const Complex h1 = s1 - s4, h2 = s2 + s3;
    table.push_back(rows(1, +1.0, h1, h2, h2, -h1));
  }
  {
    const Complex h1 = s1 + I * s3, h2 = s2 - I * s4;
    table.push_back(rows(2, -1.0, h1, h2, -I * h1, I * h2));
  }
  {
    const Complex h1 = s1 - I * s3, h2 = s2 + I * s4;
    table.push_back(rows(2, +1.0, h1, h2, I * h1, -I * h2));
  }
  table.push_back(rows(3, -1.0, 0.0, 0.0, 2.0 * s3, 2.0 * s4));
  table.push_back(rows(3, +1.0, 2.0 * s1, 2.0 * s2, 0.0, 0.0));

  for (const HalfSpinor& row : table) {
    CAPTURE(row.mu);
    CAPTURE(row.sign);
    const Matrix<4> projector = Matrix<4>::identity() + Complex{row.sign} * gamma(Basis::dirac_pauli, row.mu);
    const Vector<4> projected = projector * Vector<4>{s1, s2, s3, s4};
    for (int i = 0; i < 4; ++i) CHECK(std::abs(projected[i] - row.expected[i]) < 1e-15);
  }
}

}  // namespace reference_gamma_test
