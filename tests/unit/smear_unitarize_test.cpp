// V (V^+ V)^(-1/2) near and far from unitary matrices, and the decomposition that takes over where V is nearly singular.
#include "codelets/su3/unitarize.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/linalg.hpp"
#include "tests/reference/random.hpp"

#include <doctest/doctest.h>

namespace smear_unitarize_test {

using namespace quarkstar;
using reference::Matrix;

namespace {

constexpr std::uint64_t seed = 577;

site::Link<double> to_ours(const Matrix<3>& m) {
  site::Link<double> result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result[i][j] = {m(i, j).real(), m(i, j).imag()};
  return result;
}

Matrix<3> to_reference(const site::Link<double>& m) {
  Matrix<3> result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result(i, j) = {m[i][j].re, m[i][j].im};
  return result;
}

Matrix<3> unitary_factor(const Matrix<3>& v) {
  site::Link<double> w;
  site::unitarize(w, to_ours(v));
  return to_reference(w);
}
Matrix<3> by_svd(const Matrix<3>& v) {
  site::Link<double> w;
  site::unitarize_by_svd(w, to_ours(v));
  return to_reference(w);
}
bool analytic_works(const Matrix<3>& v) {
  site::Link<double> w;
  return site::unitarize_analytic(w, to_ours(v));
}

double deviation(const Matrix<3>& w) { return reference::max_difference(w * reference::adjoint(w), Matrix<3>::identity()); }

Matrix<3> diagonal(double a, double b, double c) {
  Matrix<3> m;
  m(0, 0) = a;
  m(1, 1) = b;
  m(2, 2) = c;
  return m;
}

/// V = x s y^+ with random unitary x and y; its unitary factor is x y^+.
struct Known {
  Matrix<3> v, w;
  Known(reference::Random& random, double a, double b, double c) {
    const Matrix<3> x = std::polar(1.0, 0.7) * reference::reunitarize(random.normal_matrix());
    const Matrix<3> y = reference::reunitarize(random.normal_matrix());
    v = x * diagonal(a, b, c) * reference::adjoint(y);
    w = x * reference::adjoint(y);
  }
};

}  // namespace

TEST_CASE("unitarize: known factors, from equal singular values to widely different ones") {
  MESSAGE("seed " << seed);
  reference::Random random(seed);
  for (int n = 0; n < 200; ++n) {
    const Known equal(random, 1, 1, 1), near(random, 1.02, 0.97, 0.99), twice(random, 0.9, 0.9, 0.5), apart(random, 1.3, 0.4, 0.1),
        scaled(random, 3e5, 2e5, 1e5), small(random, 3e-7, 2e-7, 1e-7);
    for (const Known* known : {&equal, &near, &twice, &apart, &scaled, &small}) {
      CHECK(analytic_works(known->v));
      CHECK(reference::max_difference(unitary_factor(known->v), known->w) < 1e-12);
      CHECK(reference::max_difference(by_svd(known->v), known->w) < 2e-14);
    }
    CHECK(reference::max_difference(unitary_factor(equal.v), equal.w) < 1e-14);
    CHECK(reference::max_difference(unitary_factor(near.v), near.w) < 1e-14);
  }
}

TEST_CASE("unitarize: nearly singular matrices go through the decomposition and come out unitary") {
  MESSAGE("seed " << seed);
  reference::Random random(seed + 1);
  for (const double tiny : {1e-2, 1e-4, 1e-8, 1e-12})
    for (int n = 0; n < 50; ++n) {
      const Known one(random, 1, 0.8, tiny), two(random, 1, tiny, 0.7 * tiny), graded(random, 1, std::sqrt(tiny), tiny);
      for (const Known* known : {&one, &two, &graded}) {
        const Matrix<3> w = unitary_factor(known->v);
        CHECK(deviation(w) < 2e-15);
        // The directions of tiny singular values are known to the rounding of v relative to them.
        CHECK(reference::max_difference(w, known->w) < 1e-14 / tiny);
      }
    }
  CHECK_FALSE(analytic_works(Known(random, 1, 0.8, 1e-4).v));
}

TEST_CASE("unitarize: both ways agree where they meet") {
  reference::Random random(seed + 2);
  for (double smallest = 0.2; smallest > 0.01; smallest *= 0.9) {
    const Known known(random, 1, 0.9, smallest);
    CHECK(reference::max_difference(unitary_factor(known.v), by_svd(known.v)) < 2e-12);
  }
}

TEST_CASE("unitarize: singular matrices get any unitary factor that completes theirs") {
  reference::Random random(seed + 3);
  for (int n = 0; n < 50; ++n)
    for (const Known& known : {Known(random, 1, 0.5, 0), Known(random, 1, 0, 0)}) {
      const Matrix<3> w = unitary_factor(known.v);
      CHECK(deviation(w) < 2e-15);
      // w^+ v is the positive root of v^+ v: hermitian, trace = sum of the singular values.
      const Matrix<3> p = reference::adjoint(w) * known.v;
      CHECK(reference::max_difference(p, reference::adjoint(p)) < 1e-14);
    }
  for (int i = 0; i < 3; ++i) {
    Matrix<3> v;
    v(i, 1) = 2.0;
    const Matrix<3> w = unitary_factor(v);
    CHECK(deviation(w) < 2e-15);
    CHECK(std::abs(w(i, 1) - 1.0) < 1e-15);
  }
  CHECK(reference::max_difference(unitary_factor(diagonal(0, 0, 0)), Matrix<3>::identity()) == 0);
  CHECK(reference::max_difference(unitary_factor(diagonal(1, 1, -1e-9)), diagonal(1, 1, -1)) < 1e-15);
}

}  // namespace smear_unitarize_test
