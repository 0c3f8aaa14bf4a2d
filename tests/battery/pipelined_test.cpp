// Pipelined CG and BiCGStab: step by step what the papers' recurrences do, then the plain solvers' solutions; and what they give up.
#include "codelets/actions/wilson/even_odd.hpp"
#include "codelets/field/norms.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/squared_system.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/reference/evenodd.hpp"
#include "tests/reference/solve.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pipelined_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261201;
constexpr double kappa = 0.12;

/// What a Krylov solver leaves without corrections and refreshes.
struct Bare {
  KrylovResult result;
  HostField x;
  double true_residual;  ///< |b - A x| / |b|
};

/// Mh^+ Mh for solvers of hermitian operators, else Mh, of Wilson's even-odd system on odd sites.
Bare solve_bare(std::string_view name, const HostGauge& gauge, const HostField& source, Precision precision, double tolerance, int most) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(source.extents, {1, 1, 1, 2}, 1), precision, periodic);
  LinkField even(lattice, 0, 18), odd(lattice, 1, 18);
  transfer::load_links(even, odd, gauge);
  wilson::Hopping hopping(even, odd);
  wilson::EvenOdd m(hopping, same_for_all(kappa), WilsonParameters{}, Schur::asymmetric);
  const NamedKrylovSolver& solver = *find_krylov_solver(name);
  SquaredSystem squared(m);
  LinearOperator& a = solver.any_operator ? static_cast<LinearOperator&>(m) : squared;
  const Field x = m.field(), r = m.field(), b = m.field();
  transfer::load(b, source);
  blas::submit<blas::Scale>({&r, &b}, {1.0});
  Bare bare{{}, HostField(spinor_components, source.extents), 0};
  const double b_norm2 = norms2(b).front();
  KrylovLimits limits{.target_norm2 = same_for_all(tolerance * tolerance * b_norm2)};
  limits.most_iterations.fill(most);
  bare.result = solve_by(solver.make, a, x, r, limits, {}).of_vectors.front();
  a.apply(r, x, {}, false, {});
  blas::submit<blas::AddScaled>({&r, &b}, {-1.0});
  bare.true_residual = std::sqrt(norms2(r).front() / b_norm2);
  transfer::store(bare.x, x);
  session.wait_all();
  return bare;
}

}  // namespace

TEST_CASE("pipelined recurrences step by step") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  const reference::Field b = reference::restrict_to_parity(reference::random_field(extents, 4, seed + 1), 1);
  const reference::EvenOdd system(gauge, reference::unit_term(extents), kappa, reference::Boundary::periodic());
  const reference::Operator m = [&](const reference::Field&v) { return system.asymmetric(v); },
                            normal = [&](const reference::Field&v) { return system.asymmetric_dagger(system.asymmetric(v)); };
  constexpr int steps = 12;
  for (const bool any : {false, true}) {
    const char* name = any ? "bicgstab-pipelined" : "cg-pipelined";
    INFO(std::string(name));
    const reference::History expected = any ? reference::pipelined_bicgstab(m, b, steps) : reference::pipelined_cg(normal, b, steps);
    const Bare got = solve_bare(name, gauge, battery::to_host(b), Precision::double_, 1e-30, steps);
    REQUIRE(got.result.norm2.size() == steps);
    for (std::size_t i = 0; i < steps; ++i) CHECK(got.result.norm2[i] == doctest::Approx(expected.norm2[i]).epsilon(1e-8));
    CHECK(std::sqrt(reference::norm2(battery::to_reference(got.x) - expected.x) / reference::norm2(expected.x)) < 1e-9);
  }
}

TEST_CASE("pipelined solvers take the iterations of the plain ones, and their residual is true down to what they promise") {
  MESSAGE("seed " << seed);
  const Coord extents{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 2, 0.5);
  const HostField source = battery::to_host(reference::restrict_to_parity(reference::random_field(extents, 4, seed + 3), 1));
  for (const auto& [plain, pipelined] : {std::pair{"cg", "cg-pipelined"}, {"bicgstab", "bicgstab-pipelined"}})
    for (const Precision precision : {Precision::double_, Precision::single}) {
      INFO(std::string(plain) << " " << name_of(precision));
      const double tolerance = precision == Precision::double_ ? 1e-9 : 1e-4;
      const Bare one = solve_bare(plain, gauge, source, precision, tolerance, 1000),
                 other = solve_bare(pipelined, gauge, source, precision, tolerance, 1000);
      CHECK(one.result.reason == StopReason::converged);
      CHECK(other.result.reason == StopReason::converged);
      CHECK(other.true_residual < 1.2 * tolerance);
      CHECK(other.result.iterations <= one.result.iterations * 1.2 + 2);
      const reference::Field difference = battery::to_reference(one.x) - battery::to_reference(other.x);
      CHECK(std::sqrt(reference::norm2(difference) / reference::norm2(battery::to_reference(one.x))) < 20 * tolerance);
      // How far one solve gets without corrections, however far its recurrence thinks to have come.
      double least[2];
      for (const bool variant : {false, true}) {
        least[variant] = 1;
        for (double asked = tolerance; asked > (precision == Precision::double_ ? 1e-16 : 1e-8); asked /= 10)
          least[variant] =
              std::min(least[variant], solve_bare(variant ? pipelined : plain, gauge, source, precision, asked, 200).true_residual);
      }
      MESSAGE(std::string(plain) << " " << name_of(precision) << ": " << one.result.iterations << " iterations to " << tolerance
                                 << ", pipelined " << other.result.iterations << "; least true residual " << least[0] << ", pipelined "
                                 << least[1]);
      CHECK(least[1] < (precision == Precision::double_ ? 1e-11 : 1e-5));
    }
}

TEST_CASE("pipelined variants by name") {
  CHECK(find_pipelined_solver("cg") == find_krylov_solver("cg-pipelined"));
  CHECK(find_pipelined_solver("cg-pipelined") == find_krylov_solver("cg-pipelined"));
  CHECK(find_pipelined_solver("bicgstab") == find_krylov_solver("bicgstab-pipelined"));
  for (const char* name : {"gcr", "cgnr", "blockcg", "nothing"}) CHECK(find_pipelined_solver(name) == nullptr);
}

}  // namespace pipelined_test
