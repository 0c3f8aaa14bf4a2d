// Sources and sinks against had.* and smear.* of golden-2.json (docs/conventions.md, section 12): sources, solves,
// smearing of solutions and contractions on the graph.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/contract/contraction.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "solvers/solver.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/reference_golden.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>

namespace golden_hadrons_test {

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

/// Of a configuration and a source.
struct Solved {
  std::vector<Correlator> to_points, smeared;  ///< smeared: with the sink smeared
  std::vector<HostField> columns;
};

/// The twelve columns, solved and contracted where they are on the graph. sink: nothing, or a smearing that was announced.
Solved solve(const HostGauge& gauge, const json& known, const Source& source, const std::vector<std::string>& names, const Sink& sink = {},
             const std::vector<contract::Momentum>& momenta = {{0, 0, 0}}) {
  const double kappa = known["kappa"], csw = known["csw"];
  const runtime::Decomposition decomposition(gauge.extents, {1, 1, 1, 2}, runtime::Session::current().block_owners());
  std::unique_ptr<Action> action = std::make_unique<wilson::Action>(gauge, WilsonParameters{.kappa = kappa});
  if (csw != 0) action = std::make_unique<clover::Action>(gauge, WilsonParameters{.kappa = kappa}, clover::Parameters{.csw = csw});
  Solver solver(decomposition, *action, {.tolerance = 1e-13, .tune = false});
  const QuarkSmearers smearers(decomposition, gauge, smearings_of({source.smearing, sink}));
  std::vector<SourceColumn> wanted;
  std::vector<int> all;
  for (int column = 0; column < 12; ++column) {
    wanted.push_back({source, column});
    all.push_back(column);
  }
  const SourceColumns sources(decomposition, wanted, &smearers);
  Solved solved;
  solved.columns.assign(12, HostField(spinor_components, gauge.extents));
  const std::vector<contract::Choice> choices = contract::choose({"mesons", "octet"}, names);
  const contract::Request request{names, momenta};
  std::optional<contract::Contraction> to_points, to_smeared;
  const std::vector<double> kappas(12, kappa);
  solver.solve([&](const Field& field) { sources.submit(field); }, kappas, solved.columns, {}, {},
               [&](const FullField& solutions, std::span<const SolveResult>) {
                 to_points.emplace(choices, request, solutions, all, source);
                 if (!sink) return;
                 const FullField smeared(smearers.lattice(), spinor_components, 12);
                 smearers.smear(*sink, smeared, solutions, all);
                 to_smeared.emplace(choices, request, smeared, all, source);
               });
  runtime::Session::current().wait_all();
  solved.to_points = to_points->correlators();
  if (to_smeared) solved.smeared = to_smeared->correlators();
  return solved;
}

/// |got - known| < 1e-9 |known| for every t; of pions 1e-10.
void check(const std::vector<Correlator>& correlators, const std::string& name, const json& known) {
  INFO(name);
  const Correlator& got = testing::named(correlators, name);
  REQUIRE(got.values.size() == known.size());
  const double limit = name.starts_with("pion") ? 1e-10 : 1e-9;
  for (std::size_t t = 0; t < known.size(); ++t) {
    CAPTURE(t);
    const bool complex = known[t].is_array();
    const std::complex<double> expected = complex ? std::complex<double>(known[t][0], known[t][1]) : known[t].get<double>(),
                               value(got.values[t], complex && !got.imaginary.empty() ? got.imaginary[t] : 0);
    CHECK(std::abs(value - expected) < limit * std::abs(expected));
  }
}

Source point(const Sink& smearing = {}) {
  Source source;
  source.smearing = smearing;
  return source;
}

/// Of {"sigma": 2, "N": 10, "link_smearing": "APE .6 x3 spatial"}.
QuarkSmearing smearing_of(const json& known) {
  QuarkSmearing smearing{QuarkSmearing::Form::gaussian, known["sigma"], known["N"]};
  if (known["link_smearing"] != "none") {
    smearing.ape = 0.6;
    smearing.ape_steps = 3;
  }
  return smearing;
}

}  // namespace

TEST_CASE("golden: hadrons from points and smeared points to points and smeared sinks, and from walls with momentum") {
  const auto data = reference::data_directory("hadrons");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  int cases = 0;
  for (const auto& [key, known] : golden.items()) {
    if (!key.starts_with("had.")) continue;
    CAPTURE(key);
    ++cases;
    const HostGauge gauge = configuration(*data, known["config"]);
    {
      const Solved sharp = solve(gauge, known, point(), {"pion", "proton", "proton_mixed"}, {}, {{0, 0, 0}, {1, 0, 0}});
      check(sharp.to_points, "pion_p1,0,0", known["point_pion_p100"]);
      check(sharp.to_points, "proton", known["point_proton_p000"]);
      check(sharp.to_points, "proton_p1,0,0", known["point_proton_p100"]);
      check(sharp.to_points, "proton_mixed", known["point_proton_Tmixed_p000"]);
    }
    {
      const QuarkSmearing gaussian = smearing_of(known["gaussian"]);
      const Solved smeared = solve(gauge, known, point(gaussian), {"pion", "proton"}, gaussian);
      check(smeared.to_points, "pion", known["gaussian_point_pion"]);
      check(smeared.to_points, "proton", known["gaussian_point_proton"]);
      check(smeared.smeared, "pion", known["gaussian_gaussian_pion"]);
      check(smeared.smeared, "proton", known["gaussian_gaussian_proton"]);
    }
    const Source at_rest{Source::Kind::wall, {}}, moving{Source::Kind::wall, {}, 1, {1, 0, 0}};
    const Solved wall = solve(gauge, known, at_rest, {"pion"}), wave = solve(gauge, known, moving, {"pion"});
    check(wall.to_points, "pion", known["wall_norm2_by_t"]);
    check(wave.to_points, "pion", known["momentum_wall_p100_norm2_by_t"]);
    const auto fields = [](const Solved& solved) {
      reference::Propagator columns;
      for (const HostField& column : solved.columns) {
        columns.emplace_back(column.extents, 4);
        columns.back().data = column.data;
      }
      return columns;
    };
    const reference::Matrix<4> g5 = reference::gamma5(reference::Basis::degrand_rossi);
    const std::vector<reference::Complex> both = reference::meson(fields(wave), fields(wall), g5, g5, {1, 0, 0});
    const json& expected = known["wall_p000_with_p100_pion_sink_p100"];
    for (std::size_t t = 0; t < both.size(); ++t)
      CHECK(std::abs(both[t] - std::complex<double>(expected[t][0], expected[t][1])) < 1e-10 * std::abs(both[t]));
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
    const Source source = point(smearing_of(known["gaussian"]));
    const QuarkSmearers smearers(decomposition, gauge, std::vector{*source.smearing});
    const FullField field(smearers.lattice(), colour_components, 3);
    const SourceColumns columns(decomposition, {{source, 0}, {source, 1}, {source, 2}}, &smearers);
    std::vector<HostField> host(3, HostField(colour_components, gauge.extents));
    for (const int parity : {0, 1}) {
      columns.submit(field.of(parity));
      transfer::store(host, field.of(parity));
    }
    session.wait_all();
    double norm2 = 0;
    for (const HostField& column : host)
      for (const std::complex<double>& z : column.data) norm2 += 4 * std::norm(z);  // of all twelve columns
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
    // Stored in single precision, its links are SU(3) to 1e-7: those that come of them are here, and are not there.
    const double tolerance = name == "inst" ? 1e-6 : 1e-12;
    const HostGauge gauge = configuration(*data, known["config"]);
    const runtime::Decomposition decomposition(gauge.extents, {1, 1, 1, 1}, 1);
    for (const auto& [of, alpha, steps] : {std::tuple{"ape_a0.6_n3_xyz", 0.6, 3}, {"ape_chroma2.5_n1_xyz", 4 / 6.5, 1}}) {
      INFO(of);
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
      CHECK(plaquettes.spatial == doctest::Approx(known[of]["plaq_s"].get<double>()).epsilon(tolerance));
      CHECK(plaquettes.temporal == doctest::Approx(known[of]["plaq_t"].get<double>()).epsilon(tolerance));
      CHECK(reference::link_trace(smeared) == doctest::Approx(known[of]["link_trace"].get<double>()).epsilon(10 * tolerance));
    }
  }
}

}  // namespace golden_hadrons_test
