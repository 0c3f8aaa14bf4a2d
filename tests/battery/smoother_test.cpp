// Multigrid's smoother against the reference's even-odd operator, in double precision: its polynomial leaves what no polynomial of that
// degree can make smaller, and Horner's rule is the sum of powers; in single precision it leaves hardly more.
#include "solvers/multigrid/smoother.hpp"

#include "codelets/actions/wilson/action.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/evenodd.hpp"

#include <cmath>
#include <complex>
#include <vector>

namespace smoother_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 41077;
constexpr double kappa = 0.15;
const Coord extents{4, 4, 4, 4};

reference::Field odd_part(const reference::Field& all) { return reference::restrict_to_parity(all, 1); }

/// Mh of the solver on so many vectors, and what is needed for it.
struct System {
  explicit System(const HostGauge& gauge, int vectors, double of_kappa = kappa, Precision precision = Precision::double_)
      : action(gauge, {.kappa = of_kappa}) {
    prepared = action.in_precision(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), {.precision = precision, .speed = {.measure = false}});
    prepared->prepare(vectors);
    m = prepared->system(vectors, same_for_all(of_kappa));
  }
  Field load(const std::vector<reference::Field>& vectors) const {
    Field field = m->field();
    std::vector<HostField> host;
    for (const reference::Field& v : vectors) host.push_back(battery::to_host(v));
    transfer::load(field, host);
    runtime::Session::current().wait_all();  // before the host fields go
    return field;
  }
  wilson::Action action;
  std::unique_ptr<PreparedAction> prepared;
  std::unique_ptr<EvenOdd> m;
};

std::vector<reference::Field> random_vectors(int n) {
  std::vector<reference::Field> vectors;
  for (int v = 0; v < n; ++v) vectors.push_back(odd_part(reference::random_field(extents, 4, seed + 1 + static_cast<std::uint64_t>(v))));
  return vectors;
}

}  // namespace

TEST_CASE("the smoother's polynomial has the least residual, and the smoother adds it to x") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  const reference::EvenOdd reference_system(gauge, reference::unit_term(extents), kappa);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  constexpr int vectors = 2, degree = 5;
  const System system(gauge, vectors);
  const std::vector<reference::Field> r = random_vectors(vectors);
  const Field residual = system.load(r);
  const std::vector<double> c = minimal_residual_polynomial(*system.m, residual, degree);
  REQUIRE(c.size() == degree);

  std::vector<std::vector<reference::Field>> powers;  // of each vector: r, A r, ..., A^degree r
  std::vector<reference::Field> left = r, expected = random_vectors(vectors + 2);
  expected.erase(expected.begin(), expected.begin() + 2);  // x before
  const Field x = system.load(expected);
  for (std::size_t v = 0; v < vectors; ++v) {
    powers.push_back({r[v]});
    for (std::size_t k = 0; k < degree; ++k) {
      powers[v].push_back(reference_system.asymmetric(powers[v][k]));
      left[v] = left[v] - c[k] * powers[v][k + 1];
      expected[v] = expected[v] + c[k] * powers[v][k];
    }
  }
  // Least: what is left is orthogonal, in the real part and over all vectors, to every A^k r.
  double before = 0, after = 0;
  for (std::size_t v = 0; v < vectors; ++v) {
    before += reference::norm2(r[v]);
    after += reference::norm2(left[v]);
  }
  CHECK(after < 0.02 * before);
  for (std::size_t k = 1; k <= degree; ++k) {
    double along = 0, length2 = 0;
    for (std::size_t v = 0; v < vectors; ++v) {
      along += reference::inner(powers[v][k], left[v]).real();
      length2 += reference::norm2(powers[v][k]);
    }
    CHECK(std::abs(along) < 1e-9 * std::sqrt(length2 * before));
  }

  Smoother(*system.m, c).apply(x, residual, {});
  std::vector<HostField> host(vectors, HostField(spinor_components, extents));
  transfer::store(host, x);
  session.wait_all();
  for (std::size_t v = 0; v < vectors; ++v)
    CHECK(reference::norm2(odd_part(battery::to_reference(host[v])) - expected[v]) < 1e-26 * reference::norm2(expected[v]));
}

// Powers of A are nearly parallel: a fit by their products lost so many digits in single precision that on one lattice of 16^3 x 32 it left
// four times too much.
TEST_CASE("the smoother's polynomial is as good from vectors in single precision, up to the largest degree") {
  MESSAGE("seed " << seed);
  constexpr double light = 0.17;
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  const reference::EvenOdd reference_system(gauge, reference::unit_term(extents), light);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  constexpr int vectors = 2, largest = 13;
  const std::vector<reference::Field> r = random_vectors(vectors);
  std::vector<std::vector<reference::Field>> powers;  // of each vector: r, A r, ...
  for (const reference::Field& of : r) {
    powers.push_back({of});
    for (int k = 0; k < largest; ++k) powers.back().push_back(reference_system.asymmetric(powers.back().back()));
  }
  for (const int degree : {9, largest}) {
    double left[2] = {0, 0};
    for (const bool single : {false, true}) {
      const System system(gauge, vectors, light, single ? Precision::single : Precision::double_);
      const std::vector<double> c = minimal_residual_polynomial(*system.m, system.load(r), degree);
      REQUIRE(c.size() == static_cast<std::size_t>(degree));
      for (const std::vector<reference::Field>& of : powers) {
        reference::Field rest = of[0];
        for (std::size_t k = 0; k < c.size(); ++k) rest = rest - c[k] * of[k + 1];
        left[single ? 1 : 0] += reference::norm2(rest);
      }
    }
    CAPTURE(degree);
    CAPTURE(left[0]);
    CHECK(left[1] < 1.0001 * left[0]);
  }
}

TEST_CASE("a smoother's polynomial has no more terms than r has directions") {
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const System free(gauge, 1, 0);  // Mh = 1
  const std::vector<double> one = minimal_residual_polynomial(*free.m, free.load(random_vectors(1)), 4);
  REQUIRE(one.size() == 1);
  CHECK(one[0] == doctest::Approx(1).epsilon(1e-14));

  const System system(gauge, 1);
  const Field zero = system.m->field(), x = system.load(random_vectors(1));
  blas::submit<blas::Fill>({&zero}, {0.0});
  const std::vector<double> none = minimal_residual_polynomial(*system.m, zero, 4);
  CHECK(none.empty());
  Smoother(*system.m, none).apply(x, zero, {});
  HostField host(spinor_components, extents);
  transfer::store(host, x);
  session.wait_all();
  const reference::Field same = odd_part(battery::to_reference(host)) - random_vectors(1)[0];
  CHECK(reference::norm2(same) == 0);
}

}  // namespace smoother_test
