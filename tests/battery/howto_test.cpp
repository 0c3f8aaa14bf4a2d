// The solver that docs/howto/solver.md writes, taken from the page itself, solves what it says: in every precision, with refreshes, several
// right-hand sides as one.
#include "codelets/actions/wilson/prepared_action.hpp"
#include "solvers/krylov/krylov.hpp"
#include "tests/battery/support.hpp"

#include <cmath>

namespace quarkstar {
NamedKrylovSolver mr_solver();
}

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 62831;
constexpr double tolerance = 1e-10;
constexpr Coord extents{4, 4, 4, 8};
constexpr std::size_t n = 3;
constexpr PerVector kappas{0.10, 0.12, 0.11};

wilson::PreparedAction prepared_action_of(const HostGauge& gauge, Precision precision) {
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 2}, 1);
  return {decomposition, gauge, {}, {.precision = precision, .speed = {.measure = false}}, 0};
}

struct Solved {
  KrylovResults results;
  std::vector<HostField> solutions, images;  ///< x and A x
};

/// Solves the even-odd systems on odd sites for all sources together. Needs a session.
Solved solved(const HostGauge& gauge, Precision precision, std::span<const HostField> sources, const PerVector& kappa,
              const PerVector& target_norm2) {
  const auto count = static_cast<int>(sources.size());
  wilson::PreparedAction outer = prepared_action_of(gauge, Precision::double_), inner = prepared_action_of(gauge, precision);
  const auto a = outer.system(count, kappa), low = inner.system(count, kappa);
  const Field x = a->field(), b = a->field(), wide = a->field(), residual = a->field();
  KrylovLimits limits;
  limits.target_norm2 = target_norm2;
  limits.most_iterations.fill(500);
  transfer::load(b, sources);
  Solved solved;
  if (precision == Precision::double_) {
    blas::submit<blas::Scale>({&residual, &b}, {1.0});
    solved.results = solve_by(mr_solver().make, *a, x, residual, limits, {});
  } else {
    const Field low_x = low->field(), low_r = low->field();
    const auto add_to_x = [&](const Field& part, const runtime::Guard& guard) {
      transfer::convert(wide, part, guard);
      blas::submit<blas::AddScaled>({&x, &wide}, {1.0}, guard);
    };
    limits.refresh.submit = [&](const Field& part, const Field& r, const runtime::Guard& due) {
      add_to_x(part, due);
      blas::submit<blas::Fill>({&part}, {0.0}, due);
      a->apply(wide, x, {}, false, due);
      blas::submit<blas::AddScaled>({&wide, &b}, {-1.0}, due);
      blas::submit<blas::Scale>({&residual, &wide}, {-1.0}, due);
      transfer::convert(r, residual, due);
    };
    for (const Field* field : {&x, &wide, &residual}) blas::submit<blas::Fill>({field}, {0.0});
    transfer::convert(low_r, b);
    solved.results = solve_by(mr_solver().make, *low, low_x, low_r, limits, {});
    add_to_x(low_x, {});
  }
  a->apply(wide, x, {}, false, {});
  solved.solutions.assign(sources.size(), HostField(spinor_components, extents));
  solved.images = solved.solutions;
  transfer::store(solved.solutions, x);
  transfer::store(solved.images, wide);
  runtime::Session::current().wait_all();
  return solved;
}

}  // namespace

TEST_CASE("the minimal-residual solver of docs/howto/solver.md reaches the tolerance in every precision, each vector as alone") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  std::vector<reference::Field> sources;
  std::vector<HostField> host;
  PerVector target{};
  for (std::size_t v = 0; v < n; ++v) {
    sources.push_back(reference::restrict_to_parity(reference::random_field(extents, 4, seed + 1 + v), wilson::EvenOdd::solved_parity));
    host.push_back(battery::to_host(sources[v]));
    target[v] = tolerance * tolerance * reference::norm2(sources[v]);
  }
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    INFO(name_of(precision));
    const Solved together = solved(gauge, precision, host, kappas, target);
    CHECK((together.results.refreshes > 0) == (precision != Precision::double_));
    for (std::size_t v = 0; v < n; ++v) {
      const KrylovResult& result = together.results.of_vectors[v];
      CHECK(result.reason == StopReason::converged);
      CHECK(result.iterations == static_cast<int>(result.norm2.size()));
      const reference::Field residual = sources[v] - battery::to_reference(together.images[v]);
      CHECK(std::sqrt(reference::norm2(residual) / reference::norm2(sources[v])) < 1.01 * tolerance);
      const Solved alone = solved(gauge, precision, {&host[v], 1}, {kappas[v]}, {target[v]});
      CHECK(alone.results.of_vectors[0].norm2 == result.norm2);
      CHECK(battery::same_bits(alone.solutions[0], together.solutions[v]));
      MESSAGE(name_of(precision) << ": " << result.iterations << " iterations");
    }
  }
}
