// The solver that docs/howto/solver.md writes, taken from the page itself, solves what it says: in every precision, with refreshes.
#include "codelets/actions/wilson/even_odd.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/support.hpp"

#include <cmath>

namespace quarkstar {
KrylovResult minimal_residual(LinearOperator&, const Field&, const Field&, const KrylovLimits&, const KrylovProgress&);
}

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 62831;
constexpr double tolerance = 1e-10;

/// The even-odd system in one precision.
struct System {
  battery::HoppingHarness harness;
  wilson::EvenOdd m;
  System(const Coord& lattice, Precision precision, const HostGauge& gauge, const WilsonParameters& parameters)
      : harness({lattice, {1, 1, 1, 2}, precision}, gauge, parameters.boundary), m(harness.hopping(), parameters, Schur::asymmetric) {}
};

}  // namespace

TEST_CASE("the minimal-residual solver of docs/howto/solver.md reaches the tolerance in every precision") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const WilsonParameters parameters{0.12, {}, antiperiodic_in_time};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const reference::Field source =
      reference::restrict_to_parity(reference::random_field(lattice, 4, seed + 1), wilson::EvenOdd::solved_parity);
  const HostField host = battery::to_host(source);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  System outer(lattice, Precision::double_, gauge, parameters);
  const Field x(outer.m.lattice(), outer.m.parity()), r(outer.m.lattice(), outer.m.parity()), image(outer.m.lattice(), outer.m.parity());
  KrylovLimits limits;
  limits.target_norm2 = tolerance * tolerance * reference::norm2(source);
  limits.most_iterations = 500;
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    INFO(name_of(precision));
    transfer::load(r, host);
    KrylovResult result;
    if (precision == Precision::double_) {
      result = minimal_residual(outer.m, x, r, limits, {});
    } else {
      System inner(lattice, precision, gauge, parameters);
      result = solve_below_double(outer.m, inner.m, minimal_residual, {}, x, r, limits, reference::norm2(source), {});
      session.wait_all();
    }
    CHECK(result.reason == StopReason::converged);
    CHECK(result.iterations == static_cast<int>(result.norm2.size()));
    HostField product(spinor_components, lattice);
    outer.m.apply(image, x, {}, false, {});
    transfer::store(product, image);
    session.wait_all();
    CHECK(std::sqrt(reference::norm2(source - battery::to_reference(product)) / reference::norm2(source)) < 1.01 * tolerance);
    MESSAGE(name_of(precision) << ": " << result.iterations << " iterations");
  }
}
