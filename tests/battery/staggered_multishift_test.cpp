// Multi-shift CG with refinement in every precision and long-link format: true residuals, and the solutions of single
// CG solves.
#include "codelets/actions/staggered/action.hpp"
#include "tests/battery/staggered_solver_support.hpp"

namespace staggered_multishift_test {

using namespace quarkstar;
using battery::StaggeredOutcome;

namespace {

constexpr std::uint64_t seed = 20261127;

double distance(const HostField& a, const HostField& b) {
  return std::sqrt(reference::norm2(battery::to_reference(a) - battery::to_reference(b)));
}

}  // namespace

TEST_CASE(
    "staggered multi-shift CG: every precision and long-link format reaches the tolerance and the solutions of single "
    "solves") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr double tolerance = 1e-10;
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const std::vector<double> masses{0.5, 0.2, 1.0, 0.3, 2.0};  // the least one is not the first
  const std::size_t n = masses.size();
  const std::vector<HostField> sources(n, battery::random_vectors(lattice, 1, seed + 2)[0]);
  const double b_norm = std::sqrt(reference::norm2(battery::to_reference(sources[0])));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1), cut(lattice, {1, 1, 1, 2}, 1);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int long_reals : {18, 14, 13, 9}) {
      const SolverSettings settings = battery::staggered_settings("multishift", precision, long_reals);
      Solver shifted(whole, staggered::Action(links), settings), on_two(cut, staggered::Action(links), settings),
          single(whole, staggered::Action(links), battery::staggered_settings("cg", precision, long_reals));
      const StaggeredOutcome outcome = battery::solve_together(shifted, sources, masses),
                             other = battery::solve_together(on_two, sources, masses);
      for (std::size_t s = 0; s < n; ++s) {
        INFO(name_of(precision) << " long links " << long_reals << " mass " << masses[s]);
        REQUIRE(outcome.results[s].converged());
        const double residual = battery::true_residual(reference_links, masses[s], sources[s], outcome.solutions[s]);
        CHECK(residual < 1.01 * tolerance);
        CHECK(outcome.results[s].true_residual == doctest::Approx(residual).epsilon(1e-3));
        // What the shared Krylov space cannot gain below double precision, the refinement does.
        if (precision != Precision::double_) CHECK(outcome.results[s].restarts > 0);
        battery::check_same_bits(other, s, outcome, s);

        const StaggeredOutcome alone = battery::solve_together(single, {&sources[s], 1}, {&masses[s], 1});
        REQUIRE(alone.results[0].converged());
        const double alone_residual = battery::true_residual(reference_links, masses[s], sources[s], alone.solutions[0]);
        CHECK(alone_residual < 1.01 * tolerance);
        // D is antihermitian, so |M^-1| <= 1 / 2m.
        CHECK(distance(outcome.solutions[s], alone.solutions[0]) <= 1.001 * (residual + alone_residual) * b_norm / (2 * masses[s]));
      }
    }
}

}  // namespace staggered_multishift_test
