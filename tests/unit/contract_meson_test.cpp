// Meson contractions against the reference's matrix formulas on random columns.
#include "codelets/contract/meson.hpp"
#include "codelets/contract/spin_matrix.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace quarkstar;

namespace {

struct RandomColumns {
  reference::Propagator fields;
  std::vector<HostField> columns;
};

RandomColumns random_columns(const Coord& extents, std::uint64_t seed) {
  RandomColumns random;
  for (std::uint64_t column = 0; column < 12; ++column) {
    random.fields.push_back(reference::random_field(extents, 4, seed + column));
    HostField spinor(spinor_components, extents);
    spinor.data = random.fields.back().data;
    random.columns.push_back(std::move(spinor));
  }
  return random;
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected, std::size_t shift) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t t = 0; t < got.size(); ++t) CHECK(got[t] == doctest::Approx(expected[(t + shift) % expected.size()]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("spin matrices are the DeGrand-Rossi gammas of the reference") {
  const auto check = [](const SpinMatrix& sparse, const reference::Matrix<4>& dense) {
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column) {
        const auto r = static_cast<std::size_t>(row);
        const std::complex<double> got = sparse.column[r] == column ? sparse.phase[r] : 0;
        CHECK(std::abs(got - dense(row, column)) == 0);
      }
  };
  for (int mu = 0; mu < 4; ++mu) check(spin_gamma(mu), reference::gamma(reference::Basis::degrand_rossi, mu));
  check(spin_gamma5(), reference::gamma5(reference::Basis::degrand_rossi));
  check(spin_gamma(0) * spin_gamma(1) * spin_gamma(2) * spin_gamma(3), reference::gamma5(reference::Basis::degrand_rossi));
}

TEST_CASE("meson correlators equal the reference, counted from the source's time slice") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed ", seed);
  const Coord extents{2, 4, 2, 6};
  const RandomColumns random = random_columns(extents, seed);
  for (const int source_time : {0, 1, 5}) {
    const auto shift = static_cast<std::size_t>(source_time);
    check_close(meson_correlator(Meson::pion, random.columns, source_time), reference::pion(random.fields), shift);
    check_close(meson_correlator(Meson::rho_x, random.columns, source_time), reference::rho(random.fields, 0), shift);
    check_close(meson_correlator(Meson::rho_y, random.columns, source_time), reference::rho(random.fields, 1), shift);
    check_close(meson_correlator(Meson::rho_z, random.columns, source_time), reference::rho(random.fields, 2), shift);
  }
}

TEST_CASE("columns that do not fit are refused") {
  std::vector<HostField> columns(11, HostField(spinor_components, {2, 2, 2, 2}));
  CHECK_THROWS_AS(meson_correlator(Meson::pion, columns, 0), ShapeError);
  columns.emplace_back(spinor_components, Coord{2, 2, 2, 4});
  CHECK_THROWS_AS(meson_correlator(Meson::pion, columns, 0), ShapeError);
}
