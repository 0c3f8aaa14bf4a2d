// Sources and sinks against had.* and smear.* of golden-2.json (docs/conventions.md, section 12): runs as `quarkstar solve` makes them.
#include "apps/run/parse.hpp"
#include "apps/run/solve_run.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/reference_golden.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

using namespace quarkstar;

namespace {

using nlohmann::json;

HostGauge configuration(const std::filesystem::path& data, const std::string& name) {
  const std::string file = name == "weak"            ? "other/weak_field.lime"
                           : name == "inst"          ? "milc/lat.sample.inst"
                           : name.starts_with("jl.") ? "other/" + name
                                                     : "milc/" + name;
  return format::read_gauge(data / file).gauge;
}

/// Both of one run.
struct Solved {
  app::RunReport report;
  app::Propagators propagators;

  const Correlator& operator[](const std::string& name) const { return testing::named(report.correlators, name); }
};

Solved solve(const HostGauge& gauge, const json& known, const std::string& source, const std::vector<std::string>& correlators,
             const std::vector<std::string>& sinks = {"point"}, const std::vector<contract::Momentum>& momenta = {{0, 0, 0}}) {
  Solved solved;
  app::RunConfig& config = solved.report.config;
  const double csw = known["csw"];
  config.action = &kind_named(csw != 0 ? "clover" : "wilson");
  config.settings["kappa"] = known["kappa"].get<double>();
  if (csw != 0) config.settings["csw"] = csw;
  config.source = app::parse_source(source);
  config.sinks.clear();
  for (const std::string& sink : sinks) config.sinks.push_back(app::parse_sink(sink));
  config.correlators = {correlators, momenta};
  config.solver.tolerance = 1e-13;
  config.solver.tune = false;
  config.session.cuda_workers = 0;
  config.session.cpu_workers = 1;
  config.session.threads_per_worker = 2;
  app::complete(config);
  solved.propagators = app::solve_source(links_at_hand(gauge), gauge.extents, solved.report, app::unwatched());
  return solved;
}

/// |got - known| < 1e-9 |known| for every t.
void check(const Correlator& got, const json& known) {
  INFO(got.name);
  REQUIRE(got.values.size() == known.size());
  for (std::size_t t = 0; t < known.size(); ++t) {
    CAPTURE(t);
    const bool complex = known[t].is_array();
    const std::complex<double> expected = complex ? std::complex<double>(known[t][0], known[t][1]) : known[t].get<double>(),
                               value(got.values[t], complex && !got.imaginary.empty() ? got.imaginary[t] : 0);
    CHECK(std::abs(value - expected) < 1e-9 * std::abs(expected));
  }
}

/// "gaussian:2,10,0.6,3" of {"sigma": 2, "N": 10, "link_smearing": "APE .6 x3 spatial"}.
std::string numbers_of(const json& smearing) {
  const std::string links = smearing["link_smearing"];
  return fmt::format("{},{}{}", smearing["sigma"].get<double>(), smearing["N"].get<int>(), links == "none" ? "" : ",0.6,3");
}

}  // namespace

TEST_CASE("golden: hadrons from points and smeared points to points and smeared sinks, and from walls with momentum") {
  const auto data = reference::data_directory("hadrons");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  int cases = 0;
  for (const auto& [key, known] : golden.items()) {
    if (!key.starts_with("had.")) continue;
    CAPTURE(key);
    ++cases;
    const HostGauge gauge = configuration(*data, known["config"]);
    {
      const Solved point = solve(gauge, known, "point:0,0,0,0", {"pion", "proton", "proton_mixed"}, {"point"}, {{0, 0, 0}, {1, 0, 0}});
      check(point["pion_p1,0,0"], known["point_pion_p100"]);
      check(point["proton"], known["point_proton_p000"]);
      check(point["proton_p1,0,0"], known["point_proton_p100"]);
      check(point["proton_mixed"], known["point_proton_Tmixed_p000"]);
    }
    {
      const std::string numbers = numbers_of(known["gaussian"]);
      const Solved smeared = solve(gauge, known, "gaussian:0,0,0,0," + numbers, {"pion", "proton"}, {"point", "gaussian:" + numbers});
      check(smeared["pion"], known["gaussian_point_pion"]);
      check(smeared["proton"], known["gaussian_point_proton"]);
      check(smeared["pion_sink-gaussian:" + numbers], known["gaussian_gaussian_pion"]);
      check(smeared["proton_sink-gaussian:" + numbers], known["gaussian_gaussian_proton"]);
    }
    const Solved wall = solve(gauge, known, "wall:0", {"pion"}), wave = solve(gauge, known, "wall:0,1,0,0", {"pion"});
    check(wall["pion"], known["wall_norm2_by_t"]);
    check(wave["pion"], known["momentum_wall_p100_norm2_by_t"]);
    const auto fields = [](const Solved& solved) {
      reference::Propagator columns;
      for (const HostField& column : solved.propagators.front().columns) {
        columns.emplace_back(column.extents, 4);
        columns.back().data = column.data;
      }
      return columns;
    };
    const reference::Matrix<4> g5 = reference::gamma5(reference::Basis::degrand_rossi);
    const std::vector<reference::Complex> both = reference::meson(fields(wave), fields(wall), g5, g5, {1, 0, 0});
    const json& expected = known["wall_p000_with_p100_pion_sink_p100"];
    for (std::size_t t = 0; t < both.size(); ++t)
      CHECK(std::abs(both[t] - std::complex<double>(expected[t][0], expected[t][1])) < 1e-9 * std::abs(both[t]));
  }
  CHECK(cases == 2);
}

TEST_CASE("golden: norms of smeared points") {
  const auto data = reference::data_directory("smeared points");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const auto& [key, known] : golden.items()) {
    if (!key.starts_with("had.")) continue;
    CAPTURE(key);
    const HostGauge gauge = configuration(*data, known["config"]);
    const runtime::Decomposition decomposition(gauge.extents, {1, 1, 1, 1}, 1);
    const Source source = app::parse_source("gaussian:0,0,0,0," + numbers_of(known["gaussian"]));
    const QuarkSmearers smearers(decomposition, gauge, std::vector{*source.smearing});
    const FullField field(smearers.lattice(), colour_components, 1);
    const SourceColumns columns(decomposition, {{source, 0}}, &smearers);
    std::vector<HostField> host(1, HostField(colour_components, gauge.extents));
    for (const int parity : {0, 1}) {
      columns.submit(field.of(parity));
      transfer::store(host, field.of(parity));
    }
    session.wait_all();
    double norm2 = 0;
    for (const std::complex<double>& z : host.front().data) norm2 += std::norm(z);
    CHECK(norm2 == doctest::Approx(known["gaussian"]["source_norm2"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("golden: APE-smeared links in space") {
  const auto data = reference::data_directory("APE smearing");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const std::string name : {"inst", "jl4444", "weak_field"}) {
    CAPTURE(name);
    const json& known = golden["smear." + name];
    HostGauge gauge = configuration(*data, known["config"]);
    if (name == "inst") reference::reunitarize(gauge);
    const runtime::Decomposition decomposition(gauge.extents, {1, 1, 1, 1}, 1);
    for (const auto& [of, alpha, steps] : {std::tuple{"ape_a0.6_n3_xyz", 0.6, 3}, {"ape_chroma2.5_n1_xyz", 4 / 6.5, 1}}) {
      CAPTURE(of);
      gauge::GaugeField a(decomposition, Coord{1, 1, 1, 0}), b(decomposition, Coord{1, 1, 1, 0});
      gauge::load(a, gauge);
      const gauge::GaugeField *from = &a, *to = &b;
      for (int step = 0; step < steps; ++step) {
        gauge::exchange_border(*from);
        smear::ape_links(*to, *from, alpha);
        std::swap(from, to);
      }
      HostGauge smeared = gauge;
      gauge::store(smeared, *from);
      session.wait_all();
      const reference::Plaquettes plaquettes = reference::plaquettes(smeared);
      CHECK(plaquettes.spatial == doctest::Approx(known[of]["plaq_s"].get<double>()).epsilon(1e-12));
      CHECK(plaquettes.temporal == doctest::Approx(known[of]["plaq_t"].get<double>()).epsilon(1e-12));
      CHECK(reference::link_trace(smeared) == doctest::Approx(known[of]["link_trace"].get<double>()).epsilon(1e-11));
    }
  }
}
