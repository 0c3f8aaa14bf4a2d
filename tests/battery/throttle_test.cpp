// Injected noise: throttled workers change who runs what and when, and no bit.
#include "tests/battery/solver_support.hpp"

namespace throttle_test {

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 16022;
}

TEST_CASE("throttled workers change no bit") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  battery::SolveCase c;
  c.workers = 2;
  c.threads = 1;
  c.blocks = {1, 1, 2, 2};
  c.settings.tolerance = 1e-8;
  const auto solve = [&](const battery::SolveCase& one) {
    return battery::solve_once(one, gauge, {0.12, {}, antiperiodic_in_time}, source);
  };
  for (const char* solver : {"bicgstab", "gcr"}) {
    c.settings.solver = solver;
    const battery::SolveOutcome expected = solve(c);
    CHECK(expected.result.converged());
    for (const char* policy : {"static", "eager", "dmdas"})
      for (const runtime::Throttle& throttle :
           {runtime::Throttle{.worker = 1, .factor = 5}, runtime::Throttle{.worker = 0, .factor = 1, .chance = 0.05, .hiccup_us = 500}}) {
        INFO(solver << " " << policy << " worker " << throttle.worker);
        battery::SolveCase other = c;
        other.policy = policy;
        other.throttles = {throttle};
        const battery::SolveOutcome outcome = solve(other);
        CHECK(outcome.result.residual_history == expected.result.residual_history);
        CHECK(battery::same_bits(outcome.solution, expected.solution));
      }
  }
}

}  // namespace throttle_test
