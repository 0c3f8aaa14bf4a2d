// Blocks of unequal thickness with owners of their own, as a lattice is cut for workers of unequal speed: the bits of the uncut lattice.
#include "tests/battery/solver_support.hpp"

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 30103;
using Cuts = std::array<std::vector<int>, 4>;

struct Layout {
  Cuts cuts;
  std::vector<int> owners;
};

battery::SolveOutcome solve(const runtime::Decomposition& decomposition, const SolverSettings& settings, const HostGauge& gauge,
                            const HostSpinor& source) {
  WilsonSolver solver(decomposition, gauge, {0.12, {}, {0, 0.5, 0, 1}}, settings);
  battery::SolveOutcome outcome{{}, HostSpinor(gauge.extents)};
  outcome.result = solver.solve(source, outcome.solution);
  return outcome;
}

}  // namespace

TEST_CASE("blocks of unequal thickness change no bit of a solve") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 8, 16};
  const Layout layouts[] = {
      {{{{8}, {4}, {8}, {12, 4}}}, {0, 1}},     // time stays in the lanes
      {{{{8}, {4}, {8}, {14, 2}}}, {1, 0}},     // time leaves them
      {{{{8}, {4}, {8}, {15, 1}}}, {0, 1}},     // one slice: both neighbours across the cut
      {{{{8}, {4}, {8}, {7, 1, 8}}}, {0, 1, 0}},
      {{{{8}, {4}, {5, 3}, {16}}}, {0, 1}},
      {{{{8}, {4}, {4, 4}, {13, 3}}}, {0, 1, 1, 0}},
  };
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostSpinor source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const char* solver : {"bicgstab", "cgnr", "gcr"})
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
