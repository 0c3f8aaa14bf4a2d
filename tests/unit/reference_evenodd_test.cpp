#include "runtime/system/error.hpp"
#include "tests/reference/clover.hpp"
#include "tests/reference/evenodd.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/solve.hpp"

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace reference_evenodd_test {

using namespace quarkstar;
using namespace quarkstar::reference;
using reference::EvenOdd;
using reference::Field;

namespace {

constexpr std::uint64_t seed = 41;
constexpr double kappa = 0.12;
constexpr double c_sw = 1.0;
const Coord extents{2, 2, 2, 4};

/// log |det| and arg det of an operator on the components of the sites of `parity`, or of all sites for parity -1.
std::pair<double, double> log_determinant(const Operator& op, int parity_kept) {
  std::vector<std::size_t> indices;
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int c = 0; c < 12; ++c)
      if (parity_kept < 0 || parity(coordinates(site, extents)) == parity_kept) indices.push_back(site * 12 + c);
  Eigen::MatrixXcd matrix(indices.size(), indices.size());
  for (std::size_t col = 0; col < indices.size(); ++col) {
    Field unit(extents, 4);
    unit.data[indices[col]] = 1.0;
    const Field image = op(unit);
    for (std::size_t row = 0; row < indices.size(); ++row) matrix(row, col) = image.data[indices[row]];
  }
  const Eigen::PartialPivLU<Eigen::MatrixXcd> lu(matrix);
  std::complex<double> log_sum = std::log(std::complex<double>(lu.permutationP().determinant()));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) log_sum += std::log(lu.matrixLU()(i, i));
  return {log_sum.real(), std::remainder(log_sum.imag(), 2.0 * std::acos(-1.0))};
}

}  // namespace

TEST_CASE("reference clover: A is hermitian, commutes with gamma5 and is gauge covariant") {
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const auto g = random_transform(extents, seed + 1);
  const SiteMatrices a = clover_term(gauge, kappa, c_sw);
  const SiteMatrices rotated = clover_term(transform(gauge, g), kappa, c_sw);
  const Matrix<12> g5 = spin_times_colour(gamma5(Basis::degrand_rossi), Matrix<3>::identity());
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Matrix<12> rotation = spin_times_colour(Matrix<4>::identity(), g[site]);
    CHECK(max_difference(a[site], adjoint(a[site])) < 1e-14);
    CHECK(max_difference(g5 * a[site], a[site] * g5) == 0.0);
    CHECK(max_difference(rotation * a[site] * adjoint(rotation), rotated[site]) < 1e-13);
  }
}

TEST_CASE("reference even-odd: Schur solutions equal the full solution, for Wilson and clover, either parity") {
  CAPTURE(seed);
  const HostGauge gauge = near_unit_gauge(extents, seed, 0.3);
  const Field b = random_field(extents, 4, seed + 1);
  for (const SiteMatrices& a : {unit_term(extents), clover_term(gauge, kappa, c_sw)}) {
    const Operator m = [&](const Field& x) { return clover_wilson(gauge, a, kappa, x); };
    const Operator m_dagger = [&](const Field& x) { return clover_wilson_dagger(gauge, a, kappa, x); };
    const Field full = cgnr(m, m_dagger, b, 1e-14).x;
    for (const int p : {0, 1}) {
      CAPTURE(p);
      const EvenOdd schur(gauge, a, kappa, {}, Basis::degrand_rossi, p);
      const Solution asymmetric = cgnr([&](const Field& x) { return schur.asymmetric(x); },
                                       [&](const Field& x) { return schur.asymmetric_dagger(x); }, schur.asymmetric_rhs(b), 1e-14);
      const Solution symmetric = cgnr([&](const Field& x) { return schur.symmetric(x); },
                                      [&](const Field& x) { return schur.symmetric_dagger(x); }, schur.symmetric_rhs(b), 1e-14);
      CHECK(max_difference(schur.reconstruct(b, asymmetric.x), full) < 1e-12);
      CHECK(max_difference(schur.reconstruct(b, symmetric.x), full) < 1e-12);
    }
  }
}

TEST_CASE("reference even-odd: daggers are adjoints; gamma5-hermitian is the asymmetric operator only") {
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const EvenOdd schur(gauge, clover_term(gauge, kappa, c_sw), kappa);
  const Field psi = restrict_to_parity(random_field(extents, 4, seed + 1), 1);
  const Field phi = restrict_to_parity(random_field(extents, 4, seed + 2), 1);
  const double scale = std::sqrt(norm2(psi) * norm2(phi));
  CHECK(std::abs(inner(phi, schur.asymmetric(psi)) - inner(schur.asymmetric_dagger(phi), psi)) < 1e-13 * scale);
  CHECK(std::abs(inner(phi, schur.symmetric(psi)) - inner(schur.symmetric_dagger(phi), psi)) < 1e-13 * scale);
  const Matrix<4> g5 = gamma5(Basis::degrand_rossi);
  const Field asymmetric = apply_spin(g5, schur.asymmetric(apply_spin(g5, psi)));
  const Field symmetric = apply_spin(g5, schur.symmetric(apply_spin(g5, psi)));
  CHECK(max_difference(asymmetric, schur.asymmetric_dagger(psi)) < 1e-13);
  CHECK(max_difference(symmetric, schur.symmetric_dagger(psi)) > 1e-3);
}

TEST_CASE("reference even-odd: det M = det A_ee det M_asym = det A_ee det A_oo det M_sym") {
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const SiteMatrices a = clover_term(gauge, kappa, c_sw);
  const EvenOdd schur(gauge, a, kappa);
  const auto full = log_determinant([&](const Field& x) { return clover_wilson(gauge, a, kappa, x); }, -1);
  const auto asymmetric = log_determinant([&](const Field& x) { return schur.asymmetric(x); }, 1);
  const auto symmetric = log_determinant([&](const Field& x) { return schur.symmetric(x); }, 1);
  const double even_part = trace_log(a, extents, 0);
  const double odd_part = trace_log(a, extents, 1);
  CHECK(std::abs(full.first - (even_part + asymmetric.first)) < 1e-11);
  CHECK(std::abs(full.first - (even_part + odd_part + symmetric.first)) < 1e-11);
  // gamma5-hermiticity makes the determinant real.
  CHECK(std::abs(std::sin(full.second)) < 1e-11);
  CHECK(std::abs(std::sin(asymmetric.second)) < 1e-11);
}

TEST_CASE("reference even-odd: odd extents are refused") {
  const HostGauge gauge = unit_gauge({2, 3, 2, 4});
  CHECK_THROWS_AS(EvenOdd(gauge, unit_term(gauge.extents), kappa), Error);
}

}  // namespace reference_evenodd_test
