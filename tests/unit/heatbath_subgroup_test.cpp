// One link: the SU(2) distribution against Bessel functions, the SU(3) one against the one-plaquette model.
#include "codelets/gauge/heatbath/link_update.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/random.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace heatbath_subgroup_test {

using namespace quarkstar;
using namespace quarkstar::heatbath;

namespace {

Matrix from_reference(const reference::Matrix<3>& m) { return site::read_link(reinterpret_cast<const double*>(m.entries.data())); }

reference::Matrix<3> to_reference(const Matrix& m) {
  reference::Matrix<3> result;
  write_link(reinterpret_cast<double*>(result.entries.data()), m);
  return result;
}

reference::Matrix<3> random_su3(reference::Random& random) { return reference::reunitarize(random.normal_matrix()); }

double bessel(int n, double x) { return std::cyl_bessel_i(static_cast<double>(std::abs(n)), x); }

/// Integral over SU(3) of exp((beta/3) Re tr U) = sum_n det_ij I_(n+i-j)(beta/3) (Bars and Green, Phys. Rev. D 20
/// (1979) 3311).
double one_plaquette_integral(double beta) {
  double sum = 0;
  for (int n = -15; n <= 15; ++n) {
    reference::Matrix<3> m;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m(i, j) = bessel(n + i - j, beta / 3);
    sum += (m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) - m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0)) +
            m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0)))
               .real();
  }
  return sum;
}

/// <Re tr U / 3> of that weight.
double one_plaquette_mean(double beta) {
  const double h = 1e-4 * beta;
  return (std::log(one_plaquette_integral(beta + h)) - std::log(one_plaquette_integral(beta - h))) / (2 * h);
}

}  // namespace

TEST_CASE("heatbath: SU(2) elements follow exp(alpha g0): <g0> = I_2/I_1, <g0^2> = 1 - 3 I_2/(alpha I_1), no direction") {
  const int count = 40000;
  for (const double alpha : {1e-3, 0.3, 0.79, 0.81, 2.0, 7.0, 60.0}) {
    CAPTURE(alpha);
    RandomStream random(31, RandomPurpose::heatbath, 0, static_cast<std::uint64_t>(alpha * 1000));
    double sums[4] = {}, squares[4] = {}, norm = 0;
    for (int n = 0; n < count; ++n) {
      const Su2 g = sample(alpha, random);
      const double components[4] = {g.a0, g.a1, g.a2, g.a3};
      double length2 = 0;
      for (int i = 0; i < 4; ++i) {
        sums[i] += components[i] / count;
        squares[i] += components[i] * components[i] / count;
        length2 += components[i] * components[i];
      }
      norm = std::max(norm, std::abs(length2 - 1.0));
    }
    const double ratio = bessel(2, alpha) / bessel(1, alpha);
    const double mean_square = 1 - 3 * ratio / alpha;
    CHECK(norm < 1e-14);
    CHECK(std::abs(sums[0] - ratio) < 5 * std::sqrt((mean_square - ratio * ratio) / count));
    // Var(g0^2) <= <g0^2>(1 - <g0^2>) as g0^2 lies in [0, 1]; likewise for the other squares.
    CHECK(std::abs(squares[0] - mean_square) < 5 * std::sqrt(mean_square * (1 - mean_square) / count));
    const double transverse = (1 - mean_square) / 3;
    for (int i = 1; i < 4; ++i) {
      CHECK(std::abs(sums[i]) < 5 * std::sqrt(transverse / count));
      CHECK(std::abs(squares[i] - transverse) < 5 * std::sqrt(transverse * (1 - transverse) / count));
    }
  }
}

TEST_CASE("heatbath: extreme weights give SU(2) elements") {
  RandomStream random(32, RandomPurpose::heatbath, 0, 0);
  for (const double alpha : {0.0, 1e-300, 1e12, 1e300}) {
    const Su2 g = sample(alpha, random);
    CHECK(std::abs(g.a0 * g.a0 + g.a1 * g.a1 + g.a2 * g.a2 + g.a3 * g.a3 - 1.0) < 1e-14);
    if (alpha > 1) CHECK(g.a0 > 0.999);
  }
}

TEST_CASE("heatbath: a link in the field of s V, V in SU(3), reproduces the one-plaquette model") {
  const std::uint64_t seed = 33;
  CAPTURE(seed);
  reference::Random numbers(seed);
  const reference::Matrix<3> v = random_su3(numbers);
  for (const auto& [beta, strength] : {std::pair{6.0, 1.0}, std::pair{6.0, 0.05}, std::pair{2.0, 4.0}}) {
    CAPTURE(beta * strength);
    const Matrix staple = from_reference(reference::Complex{strength} * v);
    const auto plaquette = [&](const Matrix& u) { return real_trace_adjoint(u, from_reference(adjoint(v))) / 3; };
    Matrix u = from_reference(random_su3(numbers));
    // 100 bins of 1000 updates; the scatter of the bins gives the error, autocorrelation included.
    const int bins = 100, length = 1000;
    double mean = 0, square = 0;
    for (int bin = 0; bin < bins; ++bin) {
      double average = 0;
      for (int n = 0; n < length; ++n) {
        heatbath_link(u, staple, beta, [&](int subgroup) {
          return RandomStream(seed, RandomPurpose::heatbath, bin * length + n, static_cast<std::uint64_t>(subgroup));
        });
        overrelax_link(u, staple);
        average += plaquette(u) / length;
      }
      mean += average / bins;
      square += average * average / bins;
    }
    const double error = std::sqrt((square - mean * mean) / (bins - 1));
    CAPTURE(error);
    CHECK(error < 0.002);
    CHECK(std::abs(mean - one_plaquette_mean(beta * strength)) < 4.5 * error);
    CHECK(std::abs(determinant(to_reference(u)) - 1.0) < 1e-13);
  }
}

TEST_CASE("heatbath: overrelaxation of a link moves it, keeps it in SU(3) and leaves Re tr(U A) as it is") {
  const std::uint64_t seed = 34;
  CAPTURE(seed);
  reference::Random numbers(seed);
  for (int n = 0; n < 20; ++n) {
    const reference::Matrix<3> before = random_su3(numbers), staple = numbers.normal_matrix();
    Matrix u = from_reference(before);
    overrelax_link(u, from_reference(staple));
    const reference::Matrix<3> after = to_reference(u);
    CHECK(std::abs(trace(after * staple).real() - trace(before * staple).real()) < 1e-13);
    CHECK(max_difference(after, before) > 1e-3);
    CHECK(max_difference(after * adjoint(after), reference::Matrix<3>::identity()) < 1e-14);
    CHECK(std::abs(determinant(after) - 1.0) < 1e-14);
  }
}

TEST_CASE("heatbath: a vanishing staple leaves overrelaxation without effect and makes the heatbath Haar-random") {
  const Matrix nothing{};
  const reference::Matrix<3> one = reference::Matrix<3>::identity();
  Matrix u = from_reference(one);
  overrelax_link(u, nothing);
  CHECK(max_difference(to_reference(u), one) == 0.0);
  double trace_square = 0;
  const int count = 4000;
  for (int n = 0; n < count; ++n) {
    for (int repeat = 0; repeat < 4; ++repeat)
      heatbath_link(u, nothing, 6.0, [&](int subgroup) {
        return RandomStream(35, RandomPurpose::heatbath, n, static_cast<std::uint64_t>(3 * repeat + subgroup));
      });
    trace_square += std::norm(trace(to_reference(u))) / count;
  }
  CHECK(std::abs(trace_square - 1.0) < 5 / std::sqrt(count));  // <|tr U|^2> = 1, <|tr U|^4> = 2 in the Haar measure
}

}  // namespace heatbath_subgroup_test
