// Twisted mass, clover and twisted clover: their even-odd systems of every architecture, precision and cut against the reference,
// identities of theirs, and solves.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/prepared_action.hpp"
#include "codelets/field/blas.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/evenodd.hpp"

#include <cmath>

namespace site_term_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27183;
constexpr std::size_t n = 3;
constexpr Coord extents{4, 4, 4, 8};

/// An action, and what it is to the reference. csw = 0: without clover, with a kappa for each vector; without twisted mass too: Wilson's.
struct TermCase {
  const char* name;
  double mu, csw;
  PerVector kappas;
  double nu = 1, xi0 = 1, time = 1;  ///< time: csw in planes with time, over csw

  std::unique_ptr<Action> action(const HostGauge& gauge, WilsonParameters::Normalisation normalisation = {}) const {
    const WilsonParameters parameters{.kappa = kappas[0], .normalisation = normalisation, .nu = nu, .xi0 = xi0};
    if (mu == 0 && csw == 0) return std::make_unique<wilson::Action>(gauge, parameters);
    return std::make_unique<clover::Action>(gauge, parameters, clover::Parameters{csw, mu, time * csw});
  }
  /// S, or S^+, site by site.
  reference::SiteMatrices term(const HostGauge& gauge, double kappa, bool adjoint = false) const {
    const reference::Basis basis = reference::Basis::degrand_rossi;
    reference::SiteMatrices a = reference::clover_term(gauge, kappa, csw / xi0, time * csw, basis);
    const reference::Matrix<12> one = reference::Matrix<12>::identity(),
                                twist = reference::spin_times_colour(reference::gamma5(basis), reference::Matrix<3>::identity());
    for (reference::Matrix<12>& matrix : a)
      matrix =
          matrix + reference::Complex(-6 * kappa * (1 - nu / xi0)) * one + reference::Complex(0, (adjoint ? -2 : 2) * kappa * mu) * twist;
    return a;
  }
  /// The links of the hops.
  HostGauge hops(HostGauge gauge) const {
    for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
      for (int direction = 0; direction < 3; ++direction)
        for (double& real : gauge.link(site, direction)) real *= nu / xi0;
    return gauge;
  }
};
constexpr TermCase term_cases[] = {{"twisted mass", 0.2, 0, {0.11, 0.12, 0.13}},
                                   {"clover", 0, 1.3, {0.12, 0.12, 0.12}},
                                   {"twisted clover", 0.3, 1.1, {0.115, 0.115, 0.115}}};
/// The numbers of Chroma's tests; hops in space that are larger than those in time; csw in space alone.
constexpr TermCase anisotropic_cases[] = {{"anisotropic Wilson", 0, 0, {0.11, 0.12, 0.13}, 1.2, 2.464},
                                          {"anisotropic twisted mass", 0.2, 0, {0.11, 0.12, 0.13}, 0.9, 0.7},
                                          {"anisotropic clover", 0, 0.91, {0.12, 0.12, 0.12}, 1.2, 2.464, 1.17},
                                          {"anisotropic twisted clover", 0.3, 1.1, {0.1, 0.1, 0.1}, 1.5, 1.2, 0}};
std::vector<TermCase> all_cases() {
  std::vector<TermCase> all(std::begin(term_cases), std::end(term_cases));
  all.insert(all.end(), std::begin(anisotropic_cases), std::end(anisotropic_cases));
  return all;
}

/// M psi, or M^+ psi.
reference::Field whole(const TermCase& t, const HostGauge& gauge, const reference::Field& psi, double kappa, bool adjoint = false) {
  const reference::SiteMatrices a = t.term(gauge, kappa, adjoint);
  const HostGauge hops = t.hops(gauge);
  return adjoint ? reference::clover_wilson_dagger(hops, a, kappa, psi) : reference::clover_wilson(hops, a, kappa, psi);
}

/// The Schur complement on the odd sites, or its adjoint.
reference::Field even_odd(const TermCase& t, const HostGauge& gauge, const reference::Field& psi, double kappa, Schur schur, bool adjoint) {
  const HostGauge hops = t.hops(gauge);
  const reference::EvenOdd system(hops, t.term(gauge, kappa, adjoint), kappa);
  const reference::Field odd = reference::restrict_to_parity(psi, 1);
  if (schur == Schur::symmetric) return adjoint ? system.symmetric_dagger(odd) : system.symmetric(odd);
  return adjoint ? system.asymmetric_dagger(odd) : system.asymmetric(odd);
}

/// The links in one layout. Needs a session.
std::unique_ptr<PreparedAction> prepared(const battery::HoppingCase& c, const Action& action, Schur schur) {
  const runtime::Decomposition decomposition(c.lattice, c.blocks, static_cast<int>(runtime::Session::current().workers().size()));
  return action.in_precision(decomposition,
                             {c.precision,
                              c.link_reals,
                              schur,
                              {},
                              {.tile = c.tile, .launch = stencil::Launch{0, 0, c.memory}, .most_lanes = c.most_lanes, .measure = false}});
}

std::vector<HostField> stored(const Field& field) {
  std::vector<HostField> host(static_cast<std::size_t>(field.vectors()), HostField(spinor_components, extents));
  transfer::store(host, field);
  runtime::Session::current().wait_all();
  return host;
}

/// Mh psi_v by the package, for all v together.
std::vector<HostField> computed(const battery::HoppingCase& c, const Action& action, Schur schur, std::span<const HostField> psi,
                                const PerVector& kappa, bool adjoint) {
  const auto made = prepared(c, action, schur);
  const auto m = made->system(static_cast<int>(psi.size()), kappa);
  const Field in = m->field(), out = m->field();
  transfer::load(in, psi);
  m->apply(out, in, {}, adjoint, {});
  return stored(out);
}

/// Absolute, for random fields of order 1.
double rounding(Precision precision) { return precision == Precision::double_ ? 1e-13 : precision == Precision::single ? 2e-5 : 6e-3; }

struct Case {
  HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  std::vector<reference::Field> psi;
  std::vector<HostField> host;
  Case() {
    MESSAGE("seed " << seed);
    for (std::size_t v = 0; v < n; ++v) {
      psi.push_back(reference::random_field(extents, 4, seed + 1 + v));
      host.push_back(battery::to_host(psi.back()));
    }
  }
};

runtime::SessionOptions two_workers() { return {.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0}; }

}  // namespace

TEST_CASE(
    "even-odd systems with a term per site equal the reference and have the same bits for every cut, architecture and number of vectors") {
  const Case c;
  runtime::Session session(two_workers());
  for (const TermCase& t : term_cases) {
    const std::unique_ptr<Action> action = t.action(c.gauge);
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const bool adjoint : {false, true}) {
        std::vector<reference::Field> expected;
        for (std::size_t v = 0; v < n; ++v) expected.push_back(even_odd(t, c.gauge, c.psi[v], t.kappas[v], schur, adjoint));
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
          const battery::HoppingCase uncut{extents, {1, 1, 1, 1}, precision};
          INFO(t.name << (schur == Schur::symmetric ? " symmetric" : " asymmetric") << (adjoint ? " adjoint " : " ") << uncut.text());
          std::vector<HostField> alone;
          for (std::size_t v = 0; v < n; ++v) {
            alone.push_back(computed(uncut, *action, schur, {&c.host[v], 1}, {t.kappas[v]}, adjoint).front());
            CHECK(reference::max_difference(battery::to_reference(alone[v]), expected[v]) < rounding(precision));
          }
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 2, 2, 1}})
            for (const int most_lanes : {16, 1})
              battery::for_architectures([&] {
                battery::HoppingCase cut{extents, blocks, precision, 18, most_lanes};
                cut.memory = {0, arch::Stores::streaming};
                INFO(cut.text());
                const std::vector<HostField> together = computed(cut, *action, schur, c.host, t.kappas, adjoint);
                for (std::size_t v = 0; v < n; ++v) CHECK(battery::same_bits(together[v], alone[v]));
              });
        }
      }
  }
}

TEST_CASE("links of 12 reals change a term per site by rounding") {
  const Case c;
  runtime::Session session(two_workers());
  const TermCase& t = term_cases[2];
  const std::unique_ptr<Action> action = t.action(c.gauge);
  const reference::Field expected = even_odd(t, c.gauge, c.psi[0], t.kappas[0], Schur::symmetric, false);
  const battery::HoppingCase of{extents, {1, 1, 1, 2}, Precision::double_, 12};
  const std::vector<HostField> image = computed(of, *action, Schur::symmetric, {c.host.data(), 1}, t.kappas, false);
  CHECK(reference::max_difference(battery::to_reference(image[0]), expected) < 1e-12);
}

TEST_CASE("anisotropic even-odd systems equal the reference, in all precisions, with links of 18 reals alone") {
  const Case c;
  runtime::Session session(two_workers());
  for (const TermCase& t : anisotropic_cases) {
    const std::unique_ptr<Action> action = t.action(c.gauge);
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const bool adjoint : {false, true})
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
          const battery::HoppingCase cut{extents, {1, 1, 1, 2}, precision};
          INFO(t.name << (schur == Schur::symmetric ? " symmetric" : " asymmetric") << (adjoint ? " adjoint " : " ") << cut.text());
          const std::vector<HostField> image = computed(cut, *action, schur, c.host, t.kappas, adjoint);
          for (std::size_t v = 0; v < n; ++v)
            CHECK(reference::max_difference(battery::to_reference(image[v]), even_odd(t, c.gauge, c.psi[v], t.kappas[v], schur, adjoint)) <
                  rounding(precision));
        }
    const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, 2);
    CHECK_THROWS_WITH_AS(action->check(decomposition, {.link_reals = 12}), doctest::Contains("nu / xi0"), Error);
  }
}

TEST_CASE("an anisotropic Wilson operator on unit links has the eigenvalues of its symbol") {
  constexpr double kappa = 0.12, nu = 1.2, xi0 = 2.464, space = nu / xi0;
  const HostGauge gauge = reference::unit_gauge(extents);
  runtime::Session session(two_workers());
  const wilson::Action action(gauge, {.kappa = kappa, .nu = nu, .xi0 = xi0});
  const auto made = prepared({extents, {1, 1, 1, 2}}, action, Schur::asymmetric);
  const auto m = made->system(1, {kappa});
  const reference::Basis basis = reference::Basis::degrand_rossi;
  for (const Coord& mode : {Coord{0, 0, 0, 0}, Coord{1, 2, 3, 5}, Coord{0, 3, 1, 2}}) {
    // M psi = [a - 2 kappa sum_mu c_mu (cos p_mu - i gamma_mu sin p_mu)] psi for psi = e^{ipx} u.
    reference::Field psi(extents, 4);
    reference::Matrix<4> symbol = reference::Complex(1 - 6 * kappa * (1 - space)) * reference::Matrix<4>::identity();
    std::array<double, 4> p{};
    for (std::size_t mu = 0; mu < 4; ++mu) {
      p[mu] = 2 * std::acos(-1.0) * (mode[mu] + (mu == 3 ? 0.5 : 0)) / extents[mu];
      const double c = mu == 3 ? 1 : space;
      symbol = symbol - reference::Complex(2 * kappa * c * std::cos(p[mu])) * reference::Matrix<4>::identity() +
               reference::Complex(0, 2 * kappa * c * std::sin(p[mu])) * reference::gamma(basis, static_cast<int>(mu));
    }
    for (std::int64_t site = 0; site < psi.sites(); ++site) {
      const Coord x = coordinates(site, extents);
      double phase = 0;
      for (std::size_t mu = 0; mu < 4; ++mu) phase += p[mu] * x[mu];
      for (int spin = 0; spin < 4; ++spin)
        for (int colour = 0; colour < 3; ++colour) psi(site, spin, colour) = std::polar(1.0 + spin - 0.3 * colour, phase + 0.7 * spin);
    }
    const HostField host = battery::to_host(psi);
    const FullField x(m->lattice(), spinor_components), minus(m->lattice(), spinor_components);
    for (const int parity : {0, 1}) transfer::load(x.of(parity), {&host, 1});
    reference::Field product(extents, 4);
    for (const int parity : {0, 1}) {
      m->times_m(minus.of(parity), x, -1);
      product = product - battery::to_reference(stored(minus.of(parity)).front());
    }
    CHECK(reference::max_difference(product, reference::apply_spin(symbol, psi)) < 1e-12);
  }
}

TEST_CASE("an even-odd system with a term per site is M x = b, in both normalisations") {
  const Case c;
  runtime::Session session(two_workers());
  for (const TermCase& t : all_cases())
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const auto normalisation : {WilsonParameters::Normalisation::kappa, WilsonParameters::Normalisation::mass}) {
        INFO(t.name << (schur == Schur::symmetric ? " symmetric" : " asymmetric"));
        const std::unique_ptr<Action> action = t.action(c.gauge, normalisation);
        const auto made = prepared({extents, {1, 1, 1, 2}}, *action, schur);
        const auto m = made->system(n, t.kappas);
        const FullField x(m->lattice(), spinor_components, n), b(m->lattice(), spinor_components, n),
            adjoint(m->lattice(), spinor_components, n);
        const Field rhs = m->field(), image = m->field(), even(m->lattice(), 0, spinor_components, n);
        for (const int parity : {0, 1}) transfer::load(x.of(parity), c.host);
        for (const int parity : {0, 1}) {
          const Field image_of_x(m->lattice(), parity, spinor_components, n);
          m->times_m(image_of_x, x, -1);
          blas::submit<blas::Scale>({&b.of(parity), &image_of_x}, {-1.0});
        }
        m->adjoint_m(adjoint, x);
        m->prepare(rhs, b);
        m->apply(image, x.odd, {}, false, {});
        m->reconstruct(even, b, x.odd);
        for (const int parity : {0, 1}) {
          const std::vector<HostField> product = stored(b.of(parity)), of_adjoint = stored(adjoint.of(parity));
          for (std::size_t v = 0; v < n; ++v) {
            const double unit = normalisation == WilsonParameters::Normalisation::kappa ? 1 : 1 / (2 * t.kappas[v]);
            const auto expected = [&](bool dagger) {
              return reference::Complex(unit) * reference::restrict_to_parity(whole(t, c.gauge, c.psi[v], t.kappas[v], dagger), parity);
            };
            CHECK(reference::max_difference(battery::to_reference(product[v]), expected(false)) < 1e-12);
            CHECK(reference::max_difference(battery::to_reference(of_adjoint[v]), expected(true)) < 1e-12);
          }
        }
        const std::vector<HostField> left = stored(image), right = stored(rhs), other = stored(even);
        for (std::size_t v = 0; v < n; ++v) {
          CHECK(reference::max_difference(battery::to_reference(left[v]), battery::to_reference(right[v])) < 1e-12);
          CHECK(reference::max_difference(battery::to_reference(other[v]), reference::restrict_to_parity(c.psi[v], 0)) < 1e-12);
        }
      }
}

TEST_CASE("identities of a term per site: adjointness, gamma_5, the shift of twisted mass, gauge covariance") {
  const Case c;
  runtime::Session session(two_workers());
  const battery::HoppingCase uncut{extents, {1, 1, 1, 1}};
  const std::vector<reference::Matrix<3>> g = reference::random_transform(extents, seed + 17);
  const HostGauge turned_gauge = reference::transform(c.gauge, g);
  const auto turned = [&](const reference::Field& psi) { return reference::transform(psi, g); };
  const auto gamma5 = [](const reference::Field& psi) {
    return reference::apply_spin(reference::gamma5(reference::Basis::degrand_rossi), psi);
  };
  const auto with_mu = [](TermCase t, double mu) {
    t.mu = mu;
    return t;
  };
  for (const TermCase& t : all_cases()) {
    const std::unique_ptr<Action> action = t.action(c.gauge), opposite = with_mu(t, -t.mu).action(c.gauge),
                                  on_turned = t.action(turned_gauge);
    const double kappa = t.kappas[0];
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric}) {
      INFO(t.name << (schur == Schur::symmetric ? " symmetric" : " asymmetric"));
      const auto image = [&](const Action& of, const reference::Field& psi, bool adjoint) {
        const HostField host = battery::to_host(psi);
        return battery::to_reference(computed(uncut, of, schur, {&host, 1}, {kappa}, adjoint).front());
      };
      const reference::Field a = reference::restrict_to_parity(c.psi[0], 1), b = reference::restrict_to_parity(c.psi[1], 1);
      const reference::Field m_a = image(*action, a, false);
      CHECK(std::abs(reference::inner(b, m_a) - reference::inner(image(*action, b, true), a)) < 1e-10);
      CHECK(reference::max_difference(image(*on_turned, turned(a), false), turned(m_a)) < 1e-12);
      if (schur == Schur::asymmetric) CHECK(reference::max_difference(gamma5(image(*opposite, gamma5(a), true)), m_a) < 1e-12);
    }
    // M(mu)^+ M(mu) = M(0)^+ M(0) + (2 kappa mu)^2, of the package's M on the whole lattice.
    const auto image_norm2 = [&](double mu) {
      const auto made = prepared(uncut, *with_mu(t, mu).action(c.gauge), Schur::asymmetric);
      const auto m = made->system(1, {kappa});
      const FullField x(m->lattice(), spinor_components), minus(m->lattice(), spinor_components);
      double sum = 0;
      for (const int parity : {0, 1}) transfer::load(x.of(parity), {c.host.data(), 1});
      for (const int parity : {0, 1}) {
        m->times_m(minus.of(parity), x, -1);
        sum += reference::norm2(battery::to_reference(stored(minus.of(parity)).front()));
      }
      return sum;
    };
    const double expected = image_norm2(0) + std::pow(2 * kappa * t.mu, 2) * reference::norm2(c.psi[0]);
    CHECK(std::abs(image_norm2(t.mu) / expected - 1) < 1e-13);
  }
}

TEST_CASE("log det of the clover term equals the reference's and has the same bits for every cut") {
  const Case c;
  runtime::Session session(two_workers());
  for (const TermCase& t : all_cases()) {
    if (t.csw == 0) continue;
    const std::unique_ptr<Action> action = t.action(c.gauge);
    std::optional<double> first;
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 2, 2, 1}}) {
      const auto made = prepared({extents, blocks}, *action, Schur::symmetric);
      const clover::SiteMatrices& matrices = static_cast<const clover::PreparedAction&>(*made).matrices();
      for (const int parity : {0, 1}) {
        double expected = 0;
        const reference::SiteMatrices a = t.term(c.gauge, t.kappas[0]);
        for (std::int64_t site = 0; site < volume(extents); ++site)
          if (reference::parity(coordinates(site, extents)) == parity)
            expected += std::log(std::abs(reference::determinant(a[static_cast<std::size_t>(site)])));
        CHECK(std::abs(matrices.log_det(parity) / expected - 1) < 1e-11);
      }
      if (!first) first = matrices.log_det(0);
      CHECK(matrices.log_det(0) == *first);
    }
  }
}

TEST_CASE("a solver takes actions with a term per site") {
  const Case c;
  runtime::Session session(two_workers());
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 2}, 2);
  for (const TermCase& t : all_cases())
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const char* solver_name : {"bicgstab", "cgnr"})
        for (const Precision precision : {Precision::double_, Precision::half}) {
          INFO(t.name << (schur == Schur::symmetric ? " symmetric " : " asymmetric ") << solver_name);
          Solver solver(decomposition, *t.action(c.gauge), {.solver = solver_name, .precision = precision, .schur = schur, .tune = false});
          std::vector<HostField> solutions(n, HostField(spinor_components, extents));
          const std::vector<SolveResult> results = solver.solve(c.host, {t.kappas.data(), n}, solutions);
          for (std::size_t v = 0; v < n; ++v) {
            CHECK(results[v].converged());
            const reference::Field residual = c.psi[v] - whole(t, c.gauge, battery::to_reference(solutions[v]), t.kappas[v]);
            CHECK(std::sqrt(reference::norm2(residual) / reference::norm2(c.psi[v])) < 1.01e-10);
          }
        }
}

}  // namespace site_term_test
