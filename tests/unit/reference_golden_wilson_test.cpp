#include "tests/reference/clover.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/evenodd.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"
#include "tests/unit/reference_golden.hpp"

#include <doctest/doctest.h>

namespace reference_golden_wilson_test {

using namespace quarkstar;
using namespace quarkstar::reference;

namespace {

void check_relative(double actual, double expected, double tolerance) {
  CAPTURE(actual);
  CAPTURE(expected);
  CHECK(std::abs(actual / expected - 1.0) < tolerance);
}

/// <src, psi> and |psi|^2 style numbers agree to the rounding of sums of 10^4 terms.
void check_inner(Complex actual, const nlohmann::json& expected, double scale) {
  CHECK(std::abs(actual - Complex{expected[0], expected[1]}) < 1e-13 * scale);
}

Boundary boundary_of(const nlohmann::json& known) {
  return known["antiperiodic_t"].get<bool>() ? Boundary::antiperiodic_t() : Boundary::periodic();
}

Propagator propagator_of(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Boundary& boundary) {
  const Operator m = [&](const Field& psi) { return clover_wilson(gauge, a, kappa, psi, boundary); };
  const Operator m_dagger = [&](const Field& psi) { return clover_wilson_dagger(gauge, a, kappa, psi, boundary); };
  return point_propagator(m, m_dagger, gauge.extents, 4, {0, 0, 0, 0}, 1e-13);
}

/// The same through the asymmetric Schur operator: a third of the time on 8^4.
Propagator even_odd_propagator(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Boundary& boundary) {
  const EvenOdd schur(gauge, a, kappa, boundary);
  const Operator m = [&](const Field& psi) { return schur.asymmetric(psi); };
  const Operator m_dagger = [&](const Field& psi) { return schur.asymmetric_dagger(psi); };
  Propagator propagator;
  for (int column = 0; column < 12; ++column) {
    const Field b = point_source(gauge.extents, 4, {0, 0, 0, 0}, column / 3, column % 3);
    propagator.push_back(schur.reconstruct(b, cgnr(m, m_dagger, schur.asymmetric_rhs(b), 1e-13).x));
  }
  return propagator;
}

}  // namespace

TEST_CASE("reference golden: Wilson hop on the deterministic source, both bases") {
  const auto data = data_directory("Wilson hop");
  if (!data) return;
  const nlohmann::json golden = read_json(*data / "golden.json");
  struct Case {
    std::string key;
    std::string file;
    Basis basis;
  };
  for (const Case& item : {Case{"milc.l4444.wilson_hop.ap.DeGrandRossi", "milc/lat.sample.l4444", Basis::degrand_rossi},
                           Case{"milc.l4444.wilson_hop.ap.seed1_DiracPauli", "milc/lat.sample.l4444", Basis::dirac_pauli},
                           Case{"weak_field.wilson_hop.ap.DeGrandRossi", "other/weak_field.lime", Basis::degrand_rossi}}) {
    CAPTURE(item.key);
    const nlohmann::json& known = golden[item.key];
    const HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    const Field source = golden_source(gauge.extents, 4);
    const Field hopped = hop(gauge, source, boundary_of(known), item.basis);
    check_relative(norm2(source), known["src_norm2"], 1e-13);
    check_relative(norm2(hopped), known["hop_norm2"], 1e-13);
    check_relative(norm2(restrict_to_parity(hopped, 0)), known["hop_even_norm2"], 1e-13);
    check_relative(norm2(wilson(gauge, known["kappa"], source, boundary_of(known), item.basis)), known["M_norm2"], 1e-13);
    check_inner(inner(source, hopped), known["src_dot_hop"], norm2(source));
    for (int c = 0; c < 3; ++c) check_inner(hopped(0, 0, c), known["h_first"][c], 10.0);
  }
}

TEST_CASE("reference golden: Wilson and clover operators and pions, links as stored") {
  const auto data = data_directory("Wilson pion");
  if (!data) return;
  const nlohmann::json golden = read_json(*data / "golden.json");
  struct Case {
    std::string key;
    std::string file;
  };
  for (const Case& item :
       {Case{"weak_field.wilson.k0.115.ap", "other/weak_field.lime"}, Case{"milc.l4444.wilson.k0.12.p", "milc/lat.sample.l4444"},
        Case{"milc.l4444.clover.k0.12.csw1.0.ap", "milc/lat.sample.l4444"}}) {
    CAPTURE(item.key);
    const nlohmann::json& known = golden[item.key];
    const double kappa = known["kappa"];
    const Boundary boundary = boundary_of(known);
    const HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    const SiteMatrices a = clover_term(gauge, kappa, known["csw"]);
    const Field source = golden_source(gauge.extents, 4);
    const Field image = clover_wilson(gauge, a, kappa, source, boundary);
    check_relative(norm2(image), known["Msrc_norm2"], 1e-13);
    check_inner(inner(source, image), known["src_dot_Msrc"], norm2(source));
    check_relative(norm2(hop(gauge, source, boundary)), known["hop_norm2"], 1e-13);
    if (known.contains("trlog_A_even")) {
      check_relative(trace_log(a, gauge.extents, 0), known["trlog_A_even"], 1e-12);
      check_relative(trace_log(a, gauge.extents, 1), known["trlog_A_odd"], 1e-12);
    }
    check_correlator(pion(propagator_of(gauge, a, kappa, boundary)), known["pion_pt_C_t"], 1e-10);
  }
}

TEST_CASE("reference golden: MILC's own Wilson and clover correlators, links reunitarized") {
  const auto data = data_directory("MILC Wilson correlators");
  if (!data) return;
  const nlohmann::json golden = read_json(*data / "golden-milc.json");
  struct Case {
    std::string prefix;
    std::string file;
    Boundary boundary;
    double c_sw;
  };
  for (const Case& item : {Case{"wilson_l4444_periodic_k0.12_c0.0", "milc/lat.sample.l4444", Boundary::periodic(), 0.0},
                           Case{"wilson_l4444_antiperiodic_k0.12_c0.0", "milc/lat.sample.l4444", {}, 0.0},
                           Case{"wilson_l8888_periodic_k0.12_c0.0", "milc/lat.sample.l8888", Boundary::periodic(), 0.0},
                           Case{"wilson_l8888_antiperiodic_k0.12_c0.0", "milc/lat.sample.l8888", {}, 0.0},
                           Case{"clover_l8888_antiperiodic_k0.12_c1.0", "milc/lat.sample.l8888", {}, 1.0}}) {
    CAPTURE(item.prefix);
    REQUIRE(golden.contains(item.prefix + "_pion"));
    const double kappa = 0.12;
    HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    reunitarize(gauge);
    const Propagator propagator = even_odd_propagator(gauge, clover_term(gauge, kappa, item.c_sw), kappa, item.boundary);
    const auto compare = [&](const std::string& channel, const std::vector<double>& actual) {
      CAPTURE(channel);
      const auto known = golden.find(item.prefix + channel);
      if (known != golden.end()) check_correlator(actual, (*known)["re"], 1e-10);
    };
    compare("_pion", pion(propagator));
    compare("_rhox", rho(propagator, 0));
    compare("_rhoy", rho(propagator, 1));
    compare("_rhoz", rho(propagator, 2));
  }
}

}  // namespace reference_golden_wilson_test
