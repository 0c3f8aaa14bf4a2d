// Shifted systems of Mh^+ Mh from one Krylov space: of domain wall, Moebius and clover, in every precision, against the reference.
#include "codelets/actions/clover/action.hpp"
#include "codelets/field/norms.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/shifted_system.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/domain_wall_support.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace normal_solve_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;
constexpr Coord extents{4, 4, 4, 8};

struct Outcome {
  std::vector<SolveResult> results;
  std::vector<HostField> solutions;  ///< [s n + v]
};

/// b: one vector's slices. Sites of the other parity of what comes back are 0.
Outcome solved(Solver& solver, double mass, const std::vector<HostField>& b, std::span<const double> shifts, double tolerance) {
  const std::size_t n = shifts.size();
  std::vector<HostField> each;
  for (const HostField& slice : b) each.insert(each.end(), n, slice);
  Outcome outcome{{}, std::vector<HostField>(each.size(), HostField(spinor_components, extents))};
  const std::vector<double> tolerances(n, tolerance);
  outcome.results = solver.solve_normal([&](const Field& field) { transfer::load(field, field.vectors() == 1 ? b : each); }, mass, shifts,
                                        tolerances, [&](const Field& x) { transfer::store(outcome.solutions, x); });
  return outcome;
}

}  // namespace

TEST_CASE("shifted systems of the normal operator of five dimensions have the reference's solutions, with the same bits on any cut") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const std::vector<double> shifts{0.02, 0, 1.5, 0.3};
  constexpr double tolerance = 1e-9;
  for (const battery::WallCase& w : {battery::shamir(4, 1.8, 0.2), battery::moebius(8, 1.5, 0.5, 1.8, 0.3)})
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
        INFO(w.name << (schur == Schur::symmetric ? " symmetric " : " asymmetric ") << name_of(precision));
        const reference::DomainWall d = w.reference(gauge, w.mass);
        const reference::Slices source = reference::restrict_to_parity(reference::random_slices(extents, w.b.size(), seed), 1);
        const std::vector<HostField> b = battery::slices_to_host({&source, 1});
        std::set<std::vector<double>> histories;
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}}) {
          runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
          Solver solver(runtime::Decomposition(extents, blocks, 2), domain_wall::Action(gauge, w.parameters()),
                        {.solver = "cgnr", .precision = precision, .schur = schur, .keep_history = true, .tune = false});
          const Outcome outcome = solved(solver, w.mass, b, shifts, tolerance);
          std::vector<double> history;
          for (std::size_t v = 0; v < shifts.size(); ++v) {
            const SolveResult& result = outcome.results[v];
            CHECK(result.converged());
            CHECK(static_cast<int>(result.residual_history.size()) == result.iterations);
            history.insert(history.end(), result.residual_history.begin(), result.residual_history.end());
            const reference::Slices x = battery::slices_of(outcome.solutions, v, shifts.size());
            reference::Slices residual = d.even_odd(d.even_odd(x, schur == Schur::symmetric, false), schur == Schur::symmetric, true);
            for (std::size_t s = 0; s < residual.size(); ++s) residual[s] = residual[s] + shifts[v] * x[s] - source[s];
            const double r = std::sqrt(reference::norm2(reference::restrict_to_parity(residual, 1)) / reference::norm2(source));
            CHECK(r < 1.01 * tolerance);
            CHECK(std::abs(r - result.true_residual) < 0.01 * tolerance);
          }
          histories.insert(history);
        }
        CHECK(histories.size() == 1);
      }
}

TEST_CASE("one Krylov space has the solutions of conjugate gradients for each shift, in the iterations of the smallest") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const std::vector<HostField> b{battery::to_host(reference::random_field(extents, 4, seed))};
  const std::vector<double> shifts{1e-3, 0.01, 0.1, 1};
  constexpr double tolerance = 1e-9, kappa = 0.12;
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 2);
  const clover::Action action(gauge, {.kappa = kappa}, {.csw = 1.0});
  Solver solver(whole, action, {.tune = false});
  const Outcome together = solved(solver, kappa, b, shifts, tolerance);
  const auto made = action.in_precision(whole, {.speed = {.measure = false}});
  made->prepare(1);
  const auto m = made->system(1, same_for_all(kappa), 1);
  for (std::size_t v = 0; v < shifts.size(); ++v) {
    ShiftedSystem a(*m, same_for_all(shifts[v]));
    const Field x = a.field(), r = a.field();
    transfer::load(r, b);
    KrylovLimits limits;
    limits.most_iterations[0] = 1000;
    limits.target_norm2[0] = tolerance * tolerance * norms2(r)[0];
    const KrylovResults alone = solve_by(find_krylov_solver("cg")->make, a, x, r, limits, {});
    std::vector<HostField> wanted{HostField(spinor_components, extents)};
    transfer::store(wanted, x);
    session.wait_all();
    CHECK(together.results[v].converged());
    CHECK(alone.of_vectors[0].reason == StopReason::converged);
    if (v == 0) CHECK(std::abs(together.results[v].iterations - alone.of_vectors[0].iterations) <= 1);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < wanted[0].data.size(); ++i) {
      difference = std::max(difference, std::abs(wanted[0].data[i] - together.solutions[v].data[i]));
      size = std::max(size, std::abs(wanted[0].data[i]));
    }
    CHECK(difference < 1e-6 * size);
  }
}

TEST_CASE("what shifted systems of the normal operator cannot be for is refused") {
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const std::vector<HostField> b{battery::to_host(reference::random_field(extents, 4, seed))}, none{HostField(spinor_components, extents)};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  Solver solver(whole, wilson::Action(gauge, {}), {.max_iterations = 3, .tune = false});
  const std::vector<double> negative{0.1, -0.1}, many(33, 0.1), two{0.1, 0.2};
  CHECK_THROWS_WITH_AS(solved(solver, 0.12, b, negative, 1e-9), doctest::Contains("a shift of -0.1"), Error);
  CHECK_THROWS_AS(solved(solver, 0.12, b, many, 1e-9), ShapeError);
  for (const SolveResult& result : solved(solver, 0.12, b, two, 1e-9).results) {
    CHECK(result.reason == StopReason::iteration_limit);
    CHECK(result.iterations == 3);
    CHECK(result.true_residual > 1e-9);
  }
  for (const SolveResult& result : solved(solver, 0.12, none, two, 1e-9).results) {
    CHECK(result.converged());
    CHECK(result.iterations == 0);
  }
  Solver gathers(whole, wilson::Action(gauge, {}), {.solver = "cgnr", .recycle = 8, .tune = false});
  CHECK_THROWS_WITH_AS(solved(gathers, 0.12, b, two, 1e-9), doctest::Contains("gather no modes"), Error);
}

}  // namespace normal_solve_test
