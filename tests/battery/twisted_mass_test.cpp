// Several twisted masses of one kappa: M M^+ on all sites, one Krylov space for all of them, and solves for each.
#include "codelets/actions/clover/action.hpp"
#include "solvers/normal_operator.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/clover.hpp"

#include <cmath>

namespace twisted_mass_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 30103;
constexpr Coord extents{4, 4, 4, 8};
constexpr double kappa = 0.13;
/// Of both flavours; the one that is nearest to zero is not the first.
constexpr double mus[] = {0.2, -0.05, 0.05, 0.6};
constexpr std::size_t n = std::size(mus);

clover::Parameters by_mu(double csw = 0) { return {.csw = csw, .mu = mus[0], .mass_is_mu = true}; }

/// M psi, or M^+ psi: the adjoint of i gamma_5 has another sign.
reference::Field product(const HostGauge& gauge, double mu, const reference::Field& psi, bool adjoint = false) {
  const reference::Field twist = reference::Complex(0, (adjoint ? -2 : 2) * kappa * mu) *
                                 reference::apply_spin(reference::gamma5(reference::Basis::degrand_rossi), psi);
  return (adjoint ? reference::wilson_dagger(gauge, kappa, psi) : reference::wilson(gauge, kappa, psi)) + twist;
}

double true_residual(const HostGauge& gauge, double mu, const HostField& source, const HostField& solution) {
  const reference::Field b = battery::to_reference(source);
  return std::sqrt(reference::norm2(b - product(gauge, mu, battery::to_reference(solution))) / reference::norm2(b));
}

struct Outcome {
  std::vector<SolveResult> results;
  std::vector<HostField> solutions;
};

Outcome solved(const HostGauge& gauge, const HostField& source, const SolverSettings& settings, const Coord& blocks) {
  Solver solver(runtime::Decomposition(extents, blocks, 2), clover::Action(gauge, {.kappa = kappa}, by_mu()), settings);
  Outcome outcome{{}, std::vector<HostField>(n, HostField(spinor_components, extents))};
  outcome.results = solver.solve(std::vector<HostField>(n, source), mus, outcome.solutions);
  return outcome;
}

struct Case {
  HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  HostField source = battery::to_host(reference::random_field(extents, 4, seed + 1));
  runtime::Session session{{.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0}};
  Case() { MESSAGE("seed " << seed); }
};

}  // namespace

TEST_CASE("M M^+ on all sites equals the reference, with its sums, whose bits no cut changes") {
  const Case c;
  const reference::Field psi = battery::to_reference(c.source);
  const reference::Field expected = product(c.gauge, mus[0], product(c.gauge, mus[0], psi, true));
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    std::vector<double> first;
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 2, 2, 1}}) {
      INFO(name_of(precision) << " blocks " << blocks[2] << blocks[3]);
      const clover::Action action(c.gauge, {.kappa = kappa}, by_mu());
      const auto prepared = action.in_precision(runtime::Decomposition(extents, blocks, 2), {precision, 18, {}, {}, {.measure = false}});
      const auto m = prepared->system(1, {mus[0]});
      NormalOperator normal(*m);
      const FullField parts(m->lattice(), spinor_components);
      const Field in = normal.field(), out = normal.field();
      for (const int parity : {0, 1}) transfer::load(parts.of(parity), c.source);
      for (const int parity : {0, 1}) transfer::convert(in, parts.of(parity));
      normal.apply(out, in, {.norm = true, .y = &in}, false, {});
      const std::vector<double> sums = runtime::values_of(normal.sums(), 3);
      HostField host(spinor_components, extents);
      for (const int parity : {0, 1}) transfer::convert(parts.of(parity), out);
      for (const int parity : {0, 1}) transfer::store(host, parts.of(parity));
      runtime::Session::current().wait_all();
      const double rounding = precision == Precision::double_ ? 1e-12 : precision == Precision::single ? 1e-4 : 2e-2;
      CHECK(reference::max_difference(battery::to_reference(host), expected) < rounding);
      CHECK(sums[0] == doctest::Approx(reference::norm2(expected)).epsilon(rounding));
      CHECK(sums[1] == doctest::Approx(reference::inner(psi, expected).real()).epsilon(rounding));
      if (first.empty()) first = sums;
      CHECK(sums == first);
    }
  }
}

TEST_CASE("one Krylov space serves all twisted masses: true residuals, and the same bits for every cut") {
  const Case c;
  constexpr double tolerance = 1e-10;
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const SolverSettings settings{
        .solver = "multishift", .tolerance = tolerance, .precision = precision, .keep_history = true, .tune = false};
    const Outcome whole = solved(c.gauge, c.source, settings, {1, 1, 1, 1}), cut = solved(c.gauge, c.source, settings, {1, 1, 2, 2});
    for (std::size_t v = 0; v < n; ++v) {
      INFO(name_of(precision) << " mu " << mus[v]);
      REQUIRE(whole.results[v].converged());
      const double residual = true_residual(c.gauge, mus[v], c.source, whole.solutions[v]);
      CHECK(residual < 1.01 * tolerance);
      CHECK(whole.results[v].true_residual == doctest::Approx(residual).epsilon(1e-3));
      if (precision != Precision::double_) CHECK(whole.results[v].restarts > 0);
      CHECK(cut.results[v].residual_history == whole.results[v].residual_history);
      CHECK(battery::same_bits(cut.solutions[v], whole.solutions[v]));
    }
    // Those of equal |mu| converge together, and a larger one no later.
    if (precision == Precision::double_) {
      CHECK(whole.results[1].iterations == whole.results[2].iterations);
      CHECK(whole.results[0].iterations <= whole.results[1].iterations);
    }
  }
}

TEST_CASE("right-hand sides of other twisted masses are solved together") {
  const Case c;
  for (const char* solver : {"bicgstab", "cgnr"}) {
    const Outcome outcome = solved(c.gauge, c.source, {.solver = solver, .precision = Precision::single, .tune = false}, {1, 1, 1, 2});
    for (std::size_t v = 0; v < n; ++v) {
      INFO(solver << " mu " << mus[v]);
      CHECK(outcome.results[v].converged());
      CHECK(true_residual(c.gauge, mus[v], c.source, outcome.solutions[v]) < 1.01e-10);
    }
  }
}

TEST_CASE("masses that shift no M^+ M are refused for multi-shift, other masses for a clover term") {
  const Case c;
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, 2);
  const SolverSettings multishift{.solver = "multishift", .tune = false};
  const clover::Action twisted_clover(c.gauge, {.kappa = kappa}, by_mu(1.1)), clover(c.gauge, {.kappa = kappa}, {.csw = 1});
  CHECK_THROWS_WITH_AS(Solver(decomposition, twisted_clover, multishift), doctest::Contains("shift M^+ M"), Error);
  CHECK_THROWS_WITH_AS(Solver(decomposition, clover, multishift), doctest::Contains("shift M^+ M"), Error);
  Solver solver(decomposition, twisted_clover, {.tune = false});
  HostField solution(spinor_components, extents);
  CHECK_THROWS_WITH_AS(solver.solve(c.source, mus[1], solution), doctest::Contains("the clover term was made for"), Error);
  CHECK(solver.solve(c.source, solution).converged());
}

}  // namespace twisted_mass_test
