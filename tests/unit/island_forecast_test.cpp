// What several devices are predicted to take, beside what H200s took (docs/results/2026-11-28-campaign-h200.md, 2026-11-28-h200.md,
// 2026-11-29-h200.md, 2026-11-29-campaign-several-h200.md). The constants of the forecast were fitted to these pages: this keeps what was
// fitted, and is no proof for other machines.
#include "apps/run/island_forecast.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace island_forecast_test {

using namespace quarkstar::app;

namespace {

/// Half precision inside double, as runs and benchmarks had it.
struct Operator {
  IslandProblem problem;
  double face_bytes;  ///< of a face site of one parity, per right-hand side
  double hops;        ///< of an iteration
};
const double of_gpu = 3000;  // GB/s, as workers tell it

Operator wilson(double sites) {
  return {{.sites = sites, .hop = {.links = 8 * 12 * 2, .vector = 52}, .solver_links = 1152 + 192, .columns = 12}, 12 * 4, 4};
}
Operator hisq(double sites) {
  return {{.sites = sites, .hop = {.links = 16 * 18 * 2, .vector = 16, .neighbours = 16}, .solver_links = 2304 + 576, .columns = 3},
          3 * 6 * 4,
          2};
}

/// The part of its speed that each of so many GPUs keeps, with extent^4 sites and n right-hand sides on each; one takes so many us per
/// iteration and right-hand side.
double efficiency(const Operator& op, double extent, int n, int gpus, double us) {
  const double hop = us * 1e-6 * n / op.hops;
  return hop / (hop + gpu_exchange_seconds(gpus, n * op.face_bytes * extent * extent * extent / 2));
}

constexpr double lattice_sites = 24 * 24 * 24 * 48.0, slice = 24 * 24 * 24 / 2.0;

struct Quark {
  Operator op;
  double iterations;
};

/// One configuration's quark on islands of so many GPUs each; HISQ's twelve right-hand sides are divided among them.
double seconds(const Quark& quark, int islands, int gpus) {
  const bool staggered = quark.op.problem.columns == 3;
  const std::vector<ForecastGroup> groups =
      staggered ? std::vector<ForecastGroup>(static_cast<std::size_t>(islands), {12 / islands, 2 * quark.iterations})
                : std::vector<ForecastGroup>(4, {12, 4 * quark.iterations});
  return forecast(quark.op.problem, speeds_of_gpus(of_gpu), {islands, gpus, gpus > 1 ? quark.op.face_bytes * slice : 0}, groups);
}

/// Those of the campaign: Wilson at -0.78 and -0.70, HISQ at 0.01 and 0.05.
const std::vector<Quark> quarks{
    {wilson(lattice_sites), 257}, {wilson(lattice_sites), 97}, {hisq(lattice_sites), 2363}, {hisq(lattice_sites), 370}};

/// A configuration: Wilson's quarks and HISQ's on islands of so many GPUs; 0.35 s are HISQ's links and what is between configurations.
double configuration(int wilson_islands, int wilson_gpus, int hisq_islands, int hisq_gpus) {
  double all = 0.35;
  for (const Quark& quark : quarks)
    all += quark.op.problem.columns == 3 ? seconds(quark, hisq_islands, hisq_gpus) : seconds(quark, wilson_islands, wilson_gpus);
  return all;
}

}  // namespace

TEST_CASE("iterations and groups take what they took on H200s") {
  const auto us = [](const Operator& op, int n, int gpus) {
    const std::vector<ForecastGroup> one{{n, op.hops}};
    const DeviceSpeeds bare{.hops = 1e9 * of_gpu, .exchange = gpu_exchange_seconds, .solver = 0, .links = 1e30, .group = 0, .source = 0};
    return 1e6 * forecast(op.problem, bare, {1, gpus, 0}, one) / n;
  };
  const double sites = 32.0 * 32 * 32 * 32;
  CHECK(us(wilson(sites), 12, 1) == doctest::Approx(366).epsilon(0.1));
  CHECK(us(wilson(sites), 1, 1) == doctest::Approx(434).epsilon(0.2));
  CHECK(us(hisq(sites), 8, 1) == doctest::Approx(100.4).epsilon(0.1));
  CHECK(us(hisq(sites), 1, 1) == doctest::Approx(235).epsilon(0.25));
  // A group of four: 0.69 to 0.75 s on one GPU, 0.40 to 0.42 on two.
  const auto group = [](int gpus) { return (seconds(quarks[0], 1, gpus) - 0.035 - 0.045 / gpus) / 4 - 0.018; };
  CHECK(group(1) == doctest::Approx(0.72).epsilon(0.05));
  CHECK(group(2) == doctest::Approx(0.40).epsilon(0.05));
}

TEST_CASE("a cut loses what it lost on two and four H200s") {
  struct Measured {
    Operator op;
    double extent;
    int n, gpus;
    double one, several;
  };
  for (const Measured& m : std::vector<Measured>{{wilson(0), 32, 1, 2, 439.0, 487.5},
                                                 {wilson(0), 32, 12, 2, 365.1, 389.2},
                                                 {wilson(0), 32, 12, 2, 333.5, 355.7},
                                                 {wilson(0), 32, 1, 4, 434, 535},
                                                 {wilson(0), 48, 1, 2, 2161, 2249},
                                                 {wilson(0), 48, 1, 4, 2203, 2366},
                                                 {hisq(0), 32, 1, 2, 235.2, 271.7},
                                                 {hisq(0), 32, 8, 2, 100.4, 117.0},
                                                 {hisq(0), 32, 1, 4, 234.8, 290.2},
                                                 {hisq(0), 32, 8, 4, 100.4, 123.6}}) {
    CAPTURE(m.extent);
    CAPTURE(m.n);
    CAPTURE(m.gpus);
    const double predicted = efficiency(m.op, m.extent, m.n, m.gpus, m.one), difference = predicted - m.one / m.several;
    CHECK(difference < 0.04);
    CHECK(difference > -0.04);
  }
}

TEST_CASE("a campaign's ways to use one, two and four H200s come in the measured order, but for the cut for four") {
  // The second configuration of each, and the third, which is a little larger.
  CHECK(configuration(1, 1, 1, 1) == doctest::Approx(7.0).epsilon(0.05));
  CHECK(configuration(2, 1, 1, 2) == doctest::Approx(4.4).epsilon(0.05));  // measured 4.4, 4.4
  CHECK(configuration(1, 2, 1, 2) == doctest::Approx(4.4).epsilon(0.05));  // 4.3, 4.7
  CHECK(configuration(4, 1, 1, 4) == doctest::Approx(3.4).epsilon(0.06));  // 3.4, 3.5
  CHECK(configuration(2, 2, 2, 2) == doctest::Approx(3.1).epsilon(0.06));  // 3.1, 3.1
  CHECK(configuration(2, 2, 2, 2) < 0.93 * configuration(4, 1, 1, 4));
  CHECK(configuration(2, 2, 2, 2) < configuration(1, 4, 1, 4));
  CHECK(configuration(1, 4, 1, 4) < configuration(1, 2, 1, 2));
  CHECK(configuration(2, 1, 1, 2) < configuration(1, 1, 1, 1));
  // Quark by quark, as `auto` chooses.
  for (const std::size_t heavy : {0, 2}) {
    CAPTURE(heavy);
    CHECK(seconds(quarks[heavy], 2, 2) < 0.97 * seconds(quarks[heavy], 4, 1));
    CHECK(seconds(quarks[heavy], 2, 2) < 0.97 * seconds(quarks[heavy], 1, 4));
  }
  CHECK(seconds(quarks[3], 1, 4) < seconds(quarks[3], 2, 2));  // so short that a second set-up takes longer
}

TEST_CASE("islands take groups as they come free, one set-up after another") {
  const IslandProblem problem{.sites = 2, .hop = {.links = 1}, .solver_links = 0, .columns = 1};
  const DeviceSpeeds speeds{
      .hops = 1, .exchange = [](int devices, double) { return devices > 1 ? 0.25 : 0; }, .solver = 3, .links = 1, .group = 1, .source = 0};
  const std::vector<ForecastGroup> groups{{1, 4}, {1, 1}, {1, 2}};  // a hop takes a second
  CHECK(forecast(problem, speeds, {1, 1, 0}, groups) == 3 + (4 + 1) + (1 + 1) + (2 + 1));
  CHECK(forecast(problem, speeds, {2, 1, 0}, groups) == 2 * 3 + 5 + 1);  // the other: 2 and 3; the last result waits
  CHECK(forecast(problem, speeds, {1, 2, 0}, groups) == 3 + 7 * (0.5 + 0.25) + 3);
  IslandProblem multigrid = problem;
  multigrid.multigrid = true;
  CHECK(forecast(multigrid, speeds, {2, 1, 0}, groups) == 2 * (3 + 2 * 4) + 5 + 1);
}

}  // namespace island_forecast_test
