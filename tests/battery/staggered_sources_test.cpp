// Sources of a time slice from the setting to the correlator: wall and corner-wall have an answer in closed form on
// unit links, noise has one on the average.
#include "apps/run/parse.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/field/source.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "tests/battery/staggered_solver_support.hpp"
#include "tests/unit/contract_testing.hpp"

#include <algorithm>
#include <complex>
#include <numbers>

namespace staggered_sources_test {

using namespace quarkstar;

namespace {

const Coord lattice{4, 4, 4, 8};
constexpr double space = 4 * 4 * 4;
constexpr double mass = 0.3;

struct Weights {
  const char* name;
  double near, far;  ///< weights of one hop and of three on unit links
};
constexpr Weights actions[] = {{"naive", 1, 0}, {"asqtad", 9. / 8, -1 / 24.}, {"hisq", 9. / 8, -1 / 24.}};

/// |g(t)|^2 of 2m g(t) + sum_k c_k (g(t + k) - g(t - k)) = delta(t), antiperiodic: a source that every spatial hop
/// takes to nothing, because it has momentum 0 or pi in each direction, spreads in time alone.
std::vector<double> in_time_alone(const Weights& action) {
  const int times = lattice[3];
  std::vector<double> squares;
  for (int t = 0; t < times; ++t) {
    std::complex<double> g = 0;
    for (int n = 0; n < times; ++n) {
      const double p = (2 * n + 1) * std::numbers::pi / times;
      g += std::polar(1.0 / times, p * t) / std::complex<double>(2 * mass, 2 * (action.near * std::sin(p) + action.far * std::sin(3 * p)));
    }
    squares.push_back(std::norm(g));
  }
  return squares;
}

smear::StaggeredLinks links_of(const Weights& action, const runtime::Decomposition& decomposition, const HostGauge& gauge) {
  const std::string name = action.name;
  if (name == "naive") return smear::naive_links(decomposition, gauge, antiperiodic_in_time);
  if (name == "asqtad") return smear::asqtad_links(decomposition, gauge, antiperiodic_in_time, 1);
  return smear::hisq_links(decomposition, gauge, antiperiodic_in_time, 0);
}

/// A propagator, three colours together.
battery::StaggeredOutcome propagator(Solver& solver, const Source& source) {
  std::vector<HostField> columns;
  for (int colour = 0; colour < 3; ++colour) columns.push_back(make_source(source, colour_components, lattice, colour));
  return battery::solve_together(solver, columns, std::vector<double>(3, mass));
}

}  // namespace

TEST_CASE("sources: wall and corner-wall correlators on unit links are those of one dimension") {
  const HostGauge unit = reference::unit_gauge(lattice);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  SolverSettings settings = battery::staggered_settings("cg");
  settings.tolerance = 1e-13;
  for (const Weights& action : actions) {
    const std::vector<double> squares = in_time_alone(action);
    Solver solver(whole, staggered::Action(links_of(action, whole, unit)), settings);
    for (const auto& [source, sites] : {std::pair{"wall:3", space}, std::pair{"corner-wall:3", space / 8}}) {
      const bool wall = sites == space;
      const battery::StaggeredOutcome solved = propagator(solver, app::parse_source(source));
      // The corners of a time slice have the phases of a point at the origin, and so do sinks.
      for (const Correlator& correlator : testing::contracted(solved.solutions, "staggered-mesons", {}, app::parse_source("point:0,0,0,3")))
        for (std::size_t t = 0; t < squares.size(); ++t) {
          INFO(action.name << " " << source << " " << correlator.name << " t " << t);
          // On corners every phase is 1, but for pion05's in time; over a whole slice all but pion5's cancel.
          const double sign = correlator.name == "pion05" && t % 2 != 0 ? -1 : 1;
          const double expected = wall && correlator.name != "pion5" ? 0 : sign * 3 * sites * squares[t];
          CHECK(std::abs(correlator.values[t] - expected) < 1e-11 * 3 * sites * squares[0]);
        }
    }
  }
}

// The staggered phases of a shifted lattice are those of another choice of signs of the sites, which no |G|^2 shows.
TEST_CASE("sources: a point at odd sites has the correlators of the shifted configuration from the origin") {
  constexpr std::uint64_t seed = 2718;
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  SolverSettings settings = battery::staggered_settings("cg");
  settings.tolerance = 1e-13;
  const auto correlators = [&](const HostGauge& of, const Coord& point) {
    Solver solver(whole, staggered::Action(smear::hisq_links(whole, of, antiperiodic_in_time, 0)), settings);
    const battery::StaggeredOutcome solved = propagator(solver, {.position = point});
    return testing::contracted(solved.solutions, "staggered-mesons", {.momenta = {{0, 0, 0}, {1, -1, 0}}}, {.position = point});
  };
  for (const Coord& point : {Coord{1, 0, 0, 0}, Coord{0, 3, 2, 5}, Coord{1, 3, 1, 2}}) {
    HostGauge shifted = gauge;
    for (std::int64_t site = 0; site < volume(lattice); ++site) {
      Coord from = coordinates(site, lattice);
      for (std::size_t mu = 0; mu < 4; ++mu) from[mu] = (from[mu] + point[mu]) % lattice[mu];
      for (int mu = 0; mu < 4; ++mu) std::ranges::copy(gauge.link(lexicographic(from, lattice), mu), shifted.link(site, mu).begin());
    }
    const auto here = correlators(gauge, point), there = correlators(shifted, {0, 0, 0, 0});
    for (std::size_t m = 0; m < here.size(); ++m)
      for (std::size_t t = 0; t < here[m].values.size(); ++t) {
        INFO(here[m].name << " from " << app::text_of({.position = point}) << " t " << t);
        CHECK(std::abs(here[m].values[t] - there[m].values[t]) < 1e-9 * here[0].values[t]);
        if (!here[m].imaginary.empty()) CHECK(std::abs(here[m].imaginary[t] - there[m].imaginary[t]) < 1e-9 * here[0].values[t]);
      }
  }
}

TEST_CASE("sources: every kind gives the same bits for every cut") {
  constexpr std::uint64_t seed = 3141;
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1), cut(lattice, {1, 1, 1, 2}, 2);
  const smear::StaggeredLinks links = smear::hisq_links(whole, gauge, antiperiodic_in_time, 0);
  const SolverSettings settings = battery::staggered_settings("cg");
  Solver on_one(whole, staggered::Action(links), settings), on_two(cut, staggered::Action(links), settings);
  for (const char* text : {"point:1,2,3,4", "wall:4", "corner-wall:4", "z2:4,7", "random:4,7"}) {
    INFO(text);
    const Source source = app::parse_source(text);
    const battery::StaggeredOutcome expected = propagator(on_one, source), outcome = propagator(on_two, source);
    for (std::size_t c = 0; c < 3; ++c) battery::check_same_bits(outcome, c, expected, c);
    CHECK(testing::same_bits(testing::contracted(outcome.solutions, "staggered-mesons", {}, source, {{1, 1, 1, 2}}),
                             testing::contracted(expected.solutions, "staggered-mesons", {}, source)));
  }
}

TEST_CASE("sources: the average of noise over its seeds is the sum of point sources over the time slice") {
  constexpr std::size_t seeds = 32;
  MESSAGE("seeds 1 to " << seeds);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const smear::StaggeredLinks links = smear::hisq_links(whole, reference::unit_gauge(lattice), antiperiodic_in_time, 0);
  Solver solver(whole, staggered::Action(links), battery::staggered_settings("cg"));
  /// Sum over space of |G|^2 by time from the source.
  const auto squares_of = [&](const std::vector<Source>& sources) {
    std::vector<HostField> fields;
    for (const Source& source : sources) fields.push_back(make_source(source, colour_components, lattice, 1));
    const std::vector<double> masses(fields.size(), mass);
    const battery::StaggeredOutcome outcome = battery::solve_together(solver, fields, masses);
    std::vector<std::vector<double>> squares(fields.size(), std::vector<double>(static_cast<std::size_t>(lattice[3])));
    for (std::size_t v = 0; v < fields.size(); ++v) {
      CHECK(outcome.results[v].converged());
      for (std::int64_t site = 0; site < volume(lattice); ++site)
        for (int c = 0; c < 3; ++c) {
          const int t = (coordinates(site, lattice)[3] - sources[v].time() + lattice[3]) % lattice[3];
          squares[v][static_cast<std::size_t>(t)] += std::norm(outcome.solutions[v].at(site, c));
        }
    }
    return squares;
  };
  // On unit links a translation changes no more than signs: all points of the slice have the same sums.
  const std::vector<double> point = squares_of({app::parse_source("point:0,0,0,2")})[0];
  for (const char* kind : {"z2", "random"}) {
    std::vector<Source> sources;
    for (std::size_t s = 1; s <= seeds; ++s) sources.push_back(app::parse_source(std::string(kind) + ":2," + std::to_string(s)));
    const std::vector<std::vector<double>> samples = squares_of(sources);
    for (std::size_t t = 0; t < point.size(); ++t) {
      double mean = 0, variance = 0;
      for (const auto& sample : samples) mean += sample[t] / seeds;
      for (const auto& sample : samples) variance += std::pow(sample[t] - mean, 2) / (seeds - 1);
      INFO(kind << " t " << t << " mean " << mean << " of sources, " << space * point[t] << " of points");
      // Half the lattice away both are zero.
      const double rounding = 1e-14 * space * point[0];
      CHECK(std::abs(mean - space * point[t]) < 4 * std::sqrt(variance / seeds) + rounding);
      CHECK(std::sqrt(variance / seeds) < 0.2 * mean + rounding);  // or the check would say nothing
    }
  }
}

}  // namespace staggered_sources_test
