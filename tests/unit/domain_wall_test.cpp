// Domain wall and Moebius: the reference against golden-2.json, solves against the effective overlap operator, free quarks, and what is
// refused.
#include "tests/reference/domain_wall.hpp"

#include "codelets/actions/domain_wall/action.hpp"
#include "solvers/solver.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/error_testing.hpp"
#include "tests/unit/reference_golden.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <numbers>

namespace domain_wall_test {

using namespace quarkstar;

namespace {

using nlohmann::json;
using reference::Complex;

constexpr std::uint64_t seed = 66260;

/// S eta by the package.
std::vector<reference::Field> solved(const HostGauge& gauge, const domain_wall::Parameters& parameters,
                                     const std::vector<reference::Field>& eta, double tolerance = 1e-14) {
  std::vector<HostField> sources(eta.size(), HostField(spinor_components, gauge.extents)), solutions = sources;
  for (std::size_t v = 0; v < eta.size(); ++v) sources[v].data = eta[v].data;
  Solver solver(runtime::Decomposition(gauge.extents, {1, 1, 1, 1}, 1), domain_wall::Action(gauge, parameters),
                {.solver = "cgnr", .tolerance = tolerance, .tune = false});
  solver.solve(sources, std::vector<double>(eta.size(), parameters.mass), solutions);
  std::vector<reference::Field> q;
  for (const HostField& solution : solutions) {
    q.emplace_back(gauge.extents, 4);
    q.back().data = solution.data;
  }
  return q;
}

domain_wall::Parameters parameters_of(std::size_t ls, double b, double c, double m5, double mass) {
  return {.m5 = m5, .mass = mass, .b = std::vector<double>(ls, b), .c = std::vector<double>(ls, c)};
}

template <class Matrix>
Matrix power(const Matrix& a, int exponent) {
  Matrix product = a;
  for (int i = 1; i < exponent; ++i) product = Matrix(product * a);
  return product;
}

/// ((1 + x)^L - (1 - x)^L) / ((1 + x)^L + (1 - x)^L).
Eigen::MatrixXcd sign_of(const Eigen::MatrixXcd& x, int ls) {
  const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(x.rows(), x.cols()), plus = power(Eigen::MatrixXcd(one + x), ls),
                         minus = power(Eigen::MatrixXcd(one - x), ls);
  return (plus + minus).partialPivLu().solve(plus - minus);
}

/// (D_ov^-1 - 1) / (1 - m) of a Wilson operator D_W, D_ov = (1 + m) / 2 + (1 - m) / 2 gamma_5 eps(H_K), H_K = gamma_5 (b + c) D_W
/// (2 + (b - c) D_W)^-1. Source: docs/conventions.md, section 13.
Eigen::MatrixXcd effective_propagator(const Eigen::MatrixXcd& wilson, const Eigen::MatrixXcd& g5, double b, double c, double m, int ls) {
  const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(wilson.rows(), wilson.cols());
  const Eigen::MatrixXcd kernel = (b + c) * (g5 * wilson * (2.0 * one + (b - c) * wilson).inverse());
  const Eigen::MatrixXcd overlap = 0.5 * (1 + m) * one + 0.5 * (1 - m) * (g5 * sign_of(kernel, ls));
  return (overlap.inverse() - one) / (1 - m);
}

Eigen::MatrixXcd gamma5_of(Eigen::Index size) {
  Eigen::MatrixXcd g5 = Eigen::MatrixXcd::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) g5(i, i) = i % 12 < 6 ? 1 : -1;
  return g5;
}

void check_relative(double actual, double expected) {
  CAPTURE(actual);
  CAPTURE(expected);
  CHECK(std::abs(actual / expected - 1) < 1e-12);
}

}  // namespace

TEST_CASE("golden: the reference of domain wall and Moebius") {
  const auto data = reference::data_directory("domain wall");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  for (const auto& [key, known] : golden.items()) {
    if (!key.starts_with("dwf.")) continue;
    CAPTURE(key);
    const std::string name = known["config"];
    const HostGauge gauge = format::read_gauge(*data / ("other/" + (name == "weak" ? "weak_field.lime" : name))).gauge;
    const std::size_t ls = known["Ls"];
    const reference::DomainWall m(
        gauge,
        {.m5 = known["M5"], .mass = known["mass"], .b5 = std::vector<double>(ls, known["b5"]), .c5 = std::vector<double>(ls, known["c5"])});
    reference::Slices source;
    for (std::size_t s = 0; s < ls; ++s) source.push_back((1 + 0.1 * static_cast<double>(s)) * reference::golden_source(gauge.extents, 4));
    check_relative(reference::norm2(source), known["src5_norm2"]);
    check_relative(reference::norm2(m.apply(source)), known["M_src_norm2"]);
    check_relative(reference::norm2(m.apply_dagger(source)), known["Mdag_src_norm2"]);
    const reference::Slices odd = reference::restrict_to_parity(source, 1);
    check_relative(reference::norm2(m.even_odd(odd, false, false)), known["schur_asym_odd_odd_norm2"]);
    check_relative(reference::norm2(m.even_odd(odd, true, false)), known["schur_sym_odd_odd_norm2"]);
    const Complex dot = reference::inner(source, m.apply(source)), of_known{known["src_dot_M_src"][0], known["src_dot_M_src"][1]};
    CHECK(std::abs(dot - of_known) < 1e-12 * reference::norm2(source));
  }
}

TEST_CASE("domain-wall and Moebius solves are those of the effective overlap operator") {
  MESSAGE("seed " << seed);
  constexpr Coord extents{2, 2, 2, 4};
  constexpr int ls = 8;
  constexpr double m5 = 1.8, mass = 0.1;
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  const auto size = static_cast<Eigen::Index>(12 * volume(extents));
  Eigen::MatrixXcd wilson(size, size);
  const reference::DomainWall of_wilson(gauge, {.m5 = m5, .mass = mass, .b5 = {1}, .c5 = {0}});
  for (Eigen::Index column = 0; column < size; ++column) {
    reference::Field unit(extents, 4);
    unit.data[static_cast<std::size_t>(column)] = 1;
    const reference::Field image = of_wilson.wilson(unit);
    for (Eigen::Index row = 0; row < size; ++row) wilson(row, column) = image.data[static_cast<std::size_t>(row)];
  }
  const std::vector<reference::Field> eta{reference::random_field(extents, 4, seed + 1), reference::random_field(extents, 4, seed + 2)};
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const auto& [b, c] : {std::pair{1.0, 0.0}, {1.5, 0.5}, {1.4, 0.6}, {2.0, 1.0}, {1.25, 0.25}}) {
    INFO("b5 " << b << " c5 " << c);
    const Eigen::MatrixXcd s = effective_propagator(wilson, gamma5_of(size), b, c, mass, ls);
    const std::vector<reference::Field> q = solved(gauge, parameters_of(ls, b, c, m5, mass), eta);
    for (std::size_t v = 0; v < eta.size(); ++v) {
      const Eigen::VectorXcd expected = s * Eigen::Map<const Eigen::VectorXcd>(eta[v].data.data(), size);
      CHECK((Eigen::Map<const Eigen::VectorXcd>(q[v].data.data(), size) - expected).cwiseAbs().maxCoeff() <
            1e-12 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("free domain-wall pions are sums over momenta of the effective overlap operator") {
  constexpr Coord extents{4, 4, 4, 8};
  constexpr double m5 = 1.8, mass = 0.2;
  std::vector<reference::Field> eta;
  for (int spin = 0; spin < 4; ++spin) eta.push_back(reference::point_source(extents, 4, {0, 0, 0, 0}, spin, 0));
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  Eigen::MatrixXcd gammas[4], g5 = Eigen::MatrixXcd::Zero(4, 4);
  for (int mu = 0; mu < 4; ++mu) {
    gammas[mu].resize(4, 4);
    const reference::Matrix<4> g = reference::gamma(reference::Basis::degrand_rossi, mu);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) gammas[mu](i, j) = g(i, j);
  }
  for (int i = 0; i < 4; ++i) g5(i, i) = i < 2 ? 1 : -1;
  for (const auto& [b, c] : {std::pair{1.0, 0.0}, {1.5, 0.5}}) {
    INFO("b5 " << b << " c5 " << c);
    std::vector<Eigen::MatrixXcd> propagator(static_cast<std::size_t>(volume(extents)), Eigen::MatrixXcd::Zero(4, 4));
    for (std::int64_t k = 0; k < volume(extents); ++k) {
      const Coord n = coordinates(k, extents);
      double p[4];
      Eigen::MatrixXcd wilson = -m5 * Eigen::MatrixXcd::Identity(4, 4);
      for (std::size_t mu = 0; mu < 4; ++mu) {
        p[mu] = 2 * std::numbers::pi * (n[mu] + (mu == 3 ? 0.5 : 0)) / extents[mu];
        wilson += (1 - std::cos(p[mu])) * Eigen::MatrixXcd::Identity(4, 4) + Complex(0, std::sin(p[mu])) * gammas[mu];
      }
      const Eigen::MatrixXcd s = effective_propagator(wilson, g5, b, c, mass, 6) / static_cast<double>(volume(extents));
      for (std::int64_t site = 0; site < volume(extents); ++site) {
        const Coord x = coordinates(site, extents);
        double angle = 0;
        for (std::size_t mu = 0; mu < 4; ++mu) angle += p[mu] * x[mu];
        propagator[static_cast<std::size_t>(site)] += std::polar(1.0, angle) * s;
      }
    }
    const std::vector<reference::Field> q = solved(reference::unit_gauge(extents), parameters_of(6, b, c, m5, mass), eta);
    for (std::size_t spin = 0; spin < 4; ++spin)
      for (std::int64_t site = 0; site < volume(extents); ++site)
        for (int s = 0; s < 4; ++s) {
          const Complex expected = propagator[static_cast<std::size_t>(site)](s, static_cast<Eigen::Index>(spin));
          CHECK(std::abs(q[spin](site, s, 0) - expected) < 1e-12);
        }
  }
}

TEST_CASE("domain-wall parameters that make no sense are refused by name") {
  const auto check = [](const domain_wall::Parameters& parameters, const char* key) {
    try {
      domain_wall::check_parameters(parameters);
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find(key) != std::string::npos);
    }
  };
  check(parameters_of(7, 1, 0, 1.8, 0.1), "ls");
  check(parameters_of(34, 1, 0, 1.8, 0.1), "ls");
  check(parameters_of(8, 1, 0, 2, 0.1), "m5");
  domain_wall::Parameters uneven = parameters_of(8, 1, 0, 1.8, 0.1);
  uneven.c.pop_back();
  check(uneven, "c5");
  check(parameters_of(8, std::nan(""), 0, 1.8, 0.1), "b5");
  domain_wall::check_parameters(parameters_of(32, 1.5, 0.5, 1.8, 0.1));
}

}  // namespace domain_wall_test
