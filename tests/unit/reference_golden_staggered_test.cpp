#include "tests/reference/correlator.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"
#include "tests/unit/reference_golden.hpp"

#include <doctest/doctest.h>

namespace reference_golden_staggered_test {

using namespace quarkstar;
using namespace quarkstar::reference;
using reference::Field;
using reference::Propagator;

namespace {

StaggeredLinks links_of(const std::string& action, const HostGauge& gauge, double u0, double epsilon) {
  const HostGauge folded = with_boundary(gauge, Boundary::antiperiodic_t());
  if (action == "asqtad") return asqtad_links(folded, u0);
  if (action == "hisq") return hisq_links(folded, epsilon);
  return naive_links(folded);
}

double sum_of_squares(const HostGauge& links) {
  double sum = 0.0;
  for (const double value : links.data) sum += value * value;
  return sum;
}

/// Mean Re tr / 3 with the staggered phases folded in: what golden.json calls fat_trace.
double phased_link_trace(HostGauge links) {
  for (std::int64_t site = 0; site < volume(links.extents); ++site)
    for (int mu = 0; mu < 4; ++mu)
      set_link(links, site, mu, Complex{staggered_phase(coordinates(site, links.extents), mu)} * link(links, site, mu));
  return link_trace(links);
}

/// x = M^-1 b through (4m^2 - D^2) x = M^+ b.
Propagator propagator_of(const StaggeredLinks& links, double mass) {
  Propagator propagator;
  for (int colour = 0; colour < 3; ++colour) {
    const Field b = staggered_dagger(links, mass, point_source(links.fat.extents, 1, {0, 0, 0, 0}, 0, colour));
    propagator.push_back(cg([&](const Field& chi) { return staggered_normal(links, mass, chi); }, b, 1e-14).x);
  }
  return propagator;
}

}  // namespace

TEST_CASE("reference golden: staggered links, operator and pions, links as stored") {
  const auto data = data_directory("staggered operator and pions");
  if (!data) return;
  const nlohmann::json golden = read_json(*data / "golden.json");
  struct Case {
    std::string key;
    std::string file;
  };
  for (const Case& item :
       {Case{"milc.l4444.naive.m0.1.ap", "milc/lat.sample.l4444"}, Case{"milc.l4444.hisq.m0.1.ap", "milc/lat.sample.l4444"},
        Case{"milc.l4444.asqtad.u0.0.8441.m0.1.ap", "milc/lat.sample.l4444"}, Case{"milc.l8888.hisq.m0.05.ap", "milc/lat.sample.l8888"}}) {
    CAPTURE(item.key);
    const nlohmann::json& known = golden[item.key];
    const HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    const StaggeredLinks links = links_of(known["action"], gauge, known["u0"], known["eps"]);
    CHECK(sum_of_squares(links.fat) == doctest::Approx(known["fat_norm2"].get<double>()).epsilon(1e-12));
    CHECK(sum_of_squares(links.naik) == doctest::Approx(known["long_norm2"].get<double>()).epsilon(1e-12));
    CHECK(std::abs(phased_link_trace(links.fat) - known["fat_trace"].get<double>()) < 1e-13);
    const Field source = golden_source(gauge.extents, 1);
    const Field image = staggered_dslash(links, source);
    CHECK(norm2(source) == doctest::Approx(known["src_norm2"].get<double>()).epsilon(1e-13));
    CHECK(norm2(image) == doctest::Approx(known["D_norm2"].get<double>()).epsilon(1e-12));
    const Complex expected{known["src_dot_D"][0], known["src_dot_D"][1]};
    CHECK(std::abs(inner(source, image) - expected) < 1e-12 * norm2(source));
    check_correlator(pion(propagator_of(links, known["mass"])), known["pion_pt_C_t"], 1e-10);
  }
}

TEST_CASE("reference golden: MILC's own staggered correlators, links reunitarized") {
  const auto data = data_directory("MILC staggered correlators");
  if (!data) return;
  const nlohmann::json golden = read_json(*data / "golden-milc.json");
  struct Case {
    std::string prefix;
    std::string file;
    std::string action;
    double mass, u0, epsilon;
  };
  for (const Case& item : {Case{"asqtad_l8888_antiperiodic_m0.05_u0.8696", "milc/lat.sample.l8888", "asqtad", 0.05, 0.8696, 0.0},
                           Case{"hisq_l4444_antiperiodic_m0.1_e0", "milc/lat.sample.l4444", "hisq", 0.1, 1.0, 0.0},
                           Case{"hisq_l8888_antiperiodic_m0.05_e0", "milc/lat.sample.l8888", "hisq", 0.05, 1.0, 0.0},
                           Case{"hisq_l8888_antiperiodic_m0.1_e-0.1", "milc/lat.sample.l8888", "hisq", 0.1, 1.0, -0.1}}) {
    CAPTURE(item.prefix);
    HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    reunitarize(gauge);
    const Propagator propagator = propagator_of(links_of(item.action, gauge, item.u0, item.epsilon), item.mass);
    check_correlator(pion(propagator), golden[item.prefix + "_pion5"]["re"], 1e-10);
    const auto rhox = golden.find(item.prefix + "_rhox");
    if (rhox != golden.end()) check_correlator(staggered_rho(propagator, 0), (*rhox)["re"], 1e-10);
  }
}

}  // namespace reference_golden_staggered_test
