// Effective masses of correlators whose mass is known.
#include "codelets/contract/effective_mass.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace contract_effective_mass_test {

using namespace quarkstar;

TEST_CASE("an exponential has its exponent as log effective mass") {
  std::vector<double> correlator;
  for (int t = 0; t < 10; ++t) correlator.push_back(3.5 * std::exp(-0.47 * t));
  const std::vector<double> mass = log_effective_mass(correlator);
  REQUIRE(mass.size() == 9);
  for (const double m : mass) CHECK(m == doctest::Approx(0.47).epsilon(1e-13));
}

TEST_CASE("a cosh has its mass as cosh effective mass at every time, for even and odd extents") {
  for (const double expected : {1e-3, 0.2, 1.7, 40.0}) {
    for (const int extent : {7, 8, 16}) {
      std::vector<double> correlator;
      for (int t = 0; t < extent; ++t) correlator.push_back(std::cosh(expected * (t - 0.5 * extent)));
      const std::vector<double> mass = cosh_effective_mass(correlator);
      REQUIRE(mass.size() == static_cast<std::size_t>(extent - 1));
      for (int t = 0; t + 1 < extent; ++t) {
        INFO("mass ", expected, " extent ", extent, " t ", t);
        const double m = mass[static_cast<std::size_t>(t)];
        if (2 * t + 1 == extent) CHECK(std::isnan(m));  // the ratio is 1 for every mass
        else CHECK(m == doctest::Approx(expected).epsilon(expected < 0.01 ? 1e-8 : 1e-11));
      }
    }
  }
}

TEST_CASE("a flat correlator has mass zero; a ratio that no mass explains gives not-a-number") {
  CHECK(cosh_effective_mass(std::vector<double>{2, 2, 2, 2})[0] == doctest::Approx(0).epsilon(1e-12));
  CHECK(std::isnan(cosh_effective_mass(std::vector<double>{1, 2, 1, 2})[0]));
  CHECK(std::isnan(log_effective_mass(std::vector<double>{1, -1})[0]));
  CHECK(std::isnan(log_effective_mass(std::vector<double>{1, 0})[0]));
  CHECK(log_effective_mass(std::vector<double>{}).empty());
  CHECK(cosh_effective_mass(std::vector<double>{1}).empty());
}

}  // namespace contract_effective_mass_test
