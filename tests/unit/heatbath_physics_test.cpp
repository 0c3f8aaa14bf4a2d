// Mean plaquettes of short chains against series and literature. Seeds are fixed and bits do not vary, so neither do
// verdicts.
#include "tests/unit/heatbath_testing.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace heatbath_physics_test {

using namespace quarkstar;
using heatbath_testing::Estimate;
using heatbath_testing::mean_plaquette;

TEST_CASE("heatbath: strong coupling: <P> = u + 4 u^5, u = beta/18 + beta^2/216 - 5 beta^4/93312 + O(beta^5)") {
  // u is the one-plaquette mean of SU(3); in four dimensions every plaquette is a face of 4 cubes, whose 5 other faces
  // contribute u^5 (Drouffe and Zuber, Phys. Rep. 102 (1983) 1). Neglected terms are below 2e-4 up to beta = 2.
  for (const double beta : {1.0, 2.0}) {
    CAPTURE(beta);
    const double u = beta / 18 + beta * beta / 216 - 5 * std::pow(beta, 4) / 93312;
    const Estimate got = mean_plaquette(heatbath::hot_start({4, 4, 4, 4}, 51, runtime::Team({0})), {beta, 51, 1}, 20, 20, 25);
    CAPTURE(got.mean);
    CAPTURE(got.error);
    CHECK(got.error < 5e-4);
    CHECK(std::abs(got.mean - (u + 4 * std::pow(u, 5))) < 4 * got.error + 2e-4);
  }
}

TEST_CASE("heatbath: beta = 0 is the Haar measure") {
  const Estimate got = mean_plaquette(heatbath::cold_start({4, 4, 4, 4}), {0.0, 52, 0}, 10, 20, 10);
  CHECK(got.error < 1e-3);
  CHECK(std::abs(got.mean) < 4 * got.error);
}

TEST_CASE("heatbath: beta = 6.0 and 5.7 reproduce the plaquettes of the literature") {
  struct Known {
    double beta, plaquette;
  };
  // Infinite-volume means; 8^4 differs from them by less than the statistical error here.
  for (const Known& known : {Known{6.0, 0.5937}, Known{5.7, 0.5490}}) {
    CAPTURE(known.beta);
    const Estimate got = mean_plaquette(heatbath::cold_start({8, 8, 8, 8}), {known.beta, 53, 4}, 20, 10, 6);
    CAPTURE(got.mean);
    CAPTURE(got.error);
    CHECK(got.error < 2e-3);
    CHECK(std::abs(got.mean - known.plaquette) < 4 * got.error + 3e-4);
  }
}

TEST_CASE("heatbath: cold and hot starts meet, with and without overrelaxation") {
  const Coord lattice{4, 4, 4, 4};
  const Estimate cold = mean_plaquette(heatbath::cold_start(lattice), {4.5, 54, 0}, 60, 20, 15);
  const Estimate hot = mean_plaquette(heatbath::hot_start(lattice, 55, runtime::Team({0})), {4.5, 55, 3}, 30, 20, 10);
  CAPTURE(cold.error);
  CAPTURE(hot.error);
  CHECK(std::max(cold.error, hot.error) < 2e-3);
  CHECK(std::abs(cold.mean - hot.mean) < 4 * std::hypot(cold.error, hot.error));
}

}  // namespace heatbath_physics_test
