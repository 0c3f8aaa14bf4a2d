// Blocks of unequal thickness with owners of their own, as a lattice is cut for workers of unequal speed: the bits of the uncut lattice.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

namespace unequal_blocks_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 30103;
using Cuts = std::array<std::vector<int>, 4>;

struct Layout {
  Cuts cuts;
  std::vector<int> owners;
};

battery::SolveOutcome solve(const runtime::Decomposition& decomposition, const SolverSettings& settings, const HostGauge& gauge,
                            const HostField& source) {
  Solver solver(decomposition, wilson::Action(gauge, {0.12, {}, {0, 0.5, 0, 1}}), settings);
  battery::SolveOutcome outcome{{}, HostField(spinor_components, gauge.extents)};
  outcome.result = solver.solve(source, outcome.solution);
  return outcome;
}

}  // namespace

TEST_CASE("blocks of unequal thickness change no bit of a solve") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 8, 16};
  const Layout layouts[] = {
      {{{{8}, {4}, {8}, {12, 4}}}, {0, 1}},  // time stays in the lanes
      {{{{8}, {4}, {8}, {14, 2}}}, {1, 0}},  // time leaves them
      {{{{8}, {4}, {8}, {15, 1}}}, {0, 1}},  // one slice: both neighbours across the cut
      {{{{8}, {4}, {8}, {7, 1, 8}}}, {0, 1, 0}}, {{{{8}, {4}, {5, 3}, {16}}}, {0, 1}}, {{{{8}, {4}, {4, 4}, {13, 3}}}, {0, 1, 1, 0}},
  };
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      SolverSettings settings;
      settings.solver = solver;
      settings.precision = precision;
      settings.link_reals = precision == Precision::single ? 12 : 18;
      settings.keep_history = true;
      settings.tolerance = 1e-8;
      const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
      const battery::SolveOutcome expected = solve(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), settings, gauge, source);
      REQUIRE(expected.result.converged());
      for (const Layout& layout : layouts) {
        const runtime::Decomposition decomposition(lattice, layout.cuts, layout.owners);
        INFO(solver << " " << name_of(precision) << " " << decomposition.describe() << " first " << layout.cuts[3][0] << ","
                    << layout.cuts[2][0]);
        const battery::SolveOutcome outcome = solve(decomposition, settings, gauge, source);
        CHECK(outcome.result.residual_history == expected.result.residual_history);
        CHECK(battery::same_bits(outcome.solution, expected.solution));
        CHECK(outcome.result.iterations == expected.result.iterations);
      }
    }
}

TEST_CASE("blocks of unequal thickness change no bit of staggered links and solves") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 8, 16};
  const Layout layouts[] = {
      {{{{8}, {4}, {8}, {12, 4}}}, {0, 1}},      {{{{8}, {4}, {8}, {13, 3}}}, {1, 0}},  // three hops reach over the whole thinner part
      {{{{8}, {4}, {8}, {5, 3, 8}}}, {0, 1, 0}}, {{{{8}, {4}, {5, 3}, {16}}}, {0, 1}}, {{{{8}, {4}, {4, 4}, {13, 3}}}, {0, 1, 1, 0}},
  };
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 3, seed + 1);
  const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const smear::StaggeredLinks links =
      smear::hisq_links(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), gauge, antiperiodic_in_time, -0.1);
  for (const Layout& layout : layouts) {
    const smear::StaggeredLinks made =
        smear::hisq_links(runtime::Decomposition(lattice, layout.cuts, layout.owners), gauge, antiperiodic_in_time, -0.1);
    CHECK(made.fat.data == links.fat.data);
    CHECK(made.long_links.data == links.long_links.data);
  }
  for (const std::string& solver : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      SolverSettings settings;
      settings.solver = solver;
      settings.precision = precision;
      settings.link_reals = precision == Precision::single ? 13 : 18;
      settings.keep_history = true;
      settings.tolerance = 1e-8;
      const bool shifted = solver == "multishift";
      const std::vector<double> masses = shifted ? std::vector<double>{0.2, 0.4, 0.8} : std::vector<double>(3, 0.3);
      const std::vector<HostField> b = shifted ? std::vector<HostField>(3, sources[0]) : sources;
      const auto solve_on = [&](const runtime::Decomposition& decomposition) {
        Solver on(decomposition, staggered::Action(links), settings);
        std::pair<std::vector<SolveResult>, std::vector<HostField>> outcome{
            {}, std::vector<HostField>(3, HostField(colour_components, lattice))};
        outcome.first = on.solve(b, masses, outcome.second);
        return outcome;
      };
      const auto expected = solve_on(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1));
      for (const Layout& layout : std::span(layouts).first(solver == "cg" ? std::size(layouts) : 2)) {
        const runtime::Decomposition decomposition(lattice, layout.cuts, layout.owners);
        INFO(solver << " " << name_of(precision) << " " << decomposition.describe() << " first " << layout.cuts[3][0] << ","
                    << layout.cuts[2][0]);
        const auto outcome = solve_on(decomposition);
        for (std::size_t v = 0; v < 3; ++v) {
          CHECK(outcome.first[v].converged());
          CHECK(outcome.first[v].residual_history == expected.first[v].residual_history);
          CHECK(outcome.first[v].iterations == expected.first[v].iterations);
          CHECK(battery::same_bits(outcome.second[v], expected.second[v]));
        }
      }
    }
}

}  // namespace unequal_blocks_test
