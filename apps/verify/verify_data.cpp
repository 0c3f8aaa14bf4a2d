// Checks against files: configurations written by other codes, and correlators computed by them.
#include "apps/run/gauge_io.hpp"
#include "apps/verify/verify.hpp"
#include "apps/verify/verify_solve.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

namespace quarkstar::app {
namespace {

using nlohmann::json;

/// Plaquettes and link trace / 3 as their authors' codes and an independent reader give them.
struct KnownConfiguration {
  std::string file;
  std::vector<double> plaquettes;  ///< spatial, temporal
  double plaquette_limit;          ///< by the digits that are known
  std::optional<double> link_trace;
  double link_trace_limit;
  std::optional<Coord> lattice;
};

const std::vector<KnownConfiguration>& known_configurations() {
  const std::vector<double> l4444{0.5982250520254, 0.5914752658689}, l8t4{0.5025245975935, 0.5052082963057};
  static const std::vector<KnownConfiguration> all{
      {"milc/lat.sample.l4444", l4444, 1e-12, 0.6467587374190, 1e-12, {}},
      {"milc/lat.sample.l4444.scidac", l4444, 1e-12, 0.6467587374190, 1e-12, {}},
      {"milc/lat.sample.l4444.ildg", l4444, 1e-12, 0.6467587374190, 1e-12, {}},
      {"milc/lat.sample.l8888", {0.5930007181528, 0.5941197627129}, 1e-12, -0.0006456386, 1e-10, {}},
      {"milc/lat.sample.l8", {0.8734659570, 0.8738157918}, 1e-10, 0.9650588520, 1e-10, {}},
      {"milc/lat.sample.inst", {0.9910092707578, 0.9910092707578}, 1e-12, {}, 0, {}},
      {"other/weak_field.lime", {0.9947985783413, 0.9948096861921}, 1e-12, 0.3794493487152, 1e-12, {}},
      {"other/nersc.l8t4b3360", l8t4, 1e-12, {}, 0, {}},
      {"other/ildg.l8t4b3360", l8t4, 1e-12, {}, 0, {}},
      {"other/jl.confs_Heatbath_L04040404_beta5.7_quenched_su3.ildg", {0.5719512247, 0.5710051240}, 1e-10, {}, 0, Coord{4, 4, 4, 4}},
  };
  return all;
}

/// The known configuration that golden.json or golden-2.json calls so.
const KnownConfiguration& golden_configuration(const std::string& name) {
  const std::string file = name == "weak" || name == "weak_field" ? "weak_field.lime" : name == "milc.l4444" ? "lat.sample.l4444" : name;
  for (const KnownConfiguration& known : known_configurations())
    if (known.file.ends_with("/" + file)) return known;
  throw Error(ErrorKind::input, "golden data", fmt::format("'{}' is no known configuration", name), "name it in known_configurations()");
}

/// Real (part 0) or imaginary parts of numbers or pairs of numbers.
std::vector<double> numbers(const json& values, std::size_t part = 0) {
  std::vector<double> of_part;
  for (const json& value : values) of_part.push_back(value.is_array() ? value.at(part) : value);
  return of_part;
}

/// Real and imaginary parts over some scale at each t, side by side.
std::vector<double> over(const std::vector<double>& re, const std::vector<double>& im, const std::vector<double>& scale) {
  std::vector<double> parts;
  for (std::size_t t = 0; t < scale.size(); ++t) {
    parts.push_back(re[t] / scale[t]);
    if (!im.empty()) parts.push_back(im[t] / scale[t]);
  }
  return parts;
}

/// Solved once for each configuration, action and boundary: several channels share a propagator.
class SolvedCorrelators {
 public:
  explicit SolvedCorrelators(const VerifyConfig& config) : config_(config) {}

  /// Check of one channel against `expected`, each number over `scale` or, without one, over itself; skipped if the configuration is not
  /// there.
  Check check(const std::string& name, const KnownConfiguration& golden, bool reunitarize, const WilsonCase& action, bool antiperiodic,
              const std::string& channel, const std::vector<double>& expected, const std::vector<double>& scale = {}) {
    const std::string path = config_.data + "/" + golden.file;
    if (!std::filesystem::exists(path)) return skipped(name, "no file " + path);
    const std::string key = fmt::format("{} {} {} {} {} {}", golden.file, reunitarize, action.kappa, action.csw, action.mu, antiperiodic);
    auto found = solved_.find(key);
    if (found == solved_.end()) {
      LoadedGauge loaded = load_gauge(path, golden.lattice);
      if (reunitarize) gauge::reunitarize(loaded.gauge, host_team());
      found = solved_
                  .emplace(key, verified_correlators(loaded.gauge, action, antiperiodic ? antiperiodic_in_time : periodic, config_,
                                                     {.request = {.names = {"mesons"}}}))
                  .first;
    }
    const std::vector<double>& got = correlator_named(found->second, channel).values;
    if (scale.empty()) return compare(name, expected, got, correlator_limit, true);
    return compare(name, over(expected, {}, scale), over(got, {}, scale), correlator_limit, false);
  }

 private:
  const VerifyConfig& config_;
  std::map<std::string, std::vector<Correlator>> solved_;
};

/// Cases named CONFIGURATION.wilson.* and CONFIGURATION.clover.*, links as stored.
void check_golden(const json& golden, SolvedCorrelators& solved, std::vector<Check>& checks) {
  static const std::regex pattern("(.*)\\.(wilson|clover)\\..*");
  for (const auto& [key, entry] : golden.items()) {
    std::smatch part;
    if (!std::regex_match(key, part, pattern) || !entry.contains("pion_pt_C_t")) continue;
    checks.push_back(solved.check("golden " + key, golden_configuration(part[1].str()), false,
                                  {entry.at("kappa").get<double>(), entry.at("csw").get<double>()}, entry.at("antiperiodic_t").get<bool>(),
                                  "pion", entry.at("pion_pt_C_t").get<std::vector<double>>()));
  }
}

/// Cases named clover.* and tm.*; periodic in space.
void check_golden_2(const json& golden, SolvedCorrelators& solved, std::vector<Check>& checks) {
  const std::vector<std::pair<const char*, const char*>> of_clover{
      {"pion", "pion"}, {"rho_x", "rhox"}, {"rho_y", "rhoy"}, {"rho_z", "rhoz"}},
      of_twisted_mass{{"pion", "pion_charged_P"},  {"rho_x", "rho_charged_Vx"}, {"rho_y", "rho_charged_Vy"},
                      {"rho_z", "rho_charged_Vz"}, {"a0", "charged_scalar"},    {"a4p", "charged_A4P"}};
  for (const auto& [key, entry] : golden.items()) {
    const bool is_clover = key.starts_with("clover.");
    if (!(is_clover || key.starts_with("tm.")) || !entry.contains("config")) continue;
    const KnownConfiguration& configuration = golden_configuration(entry.at("config"));
    const WilsonCase action{entry.at("kappa").get<double>(), entry.at("csw").get<double>(), entry.value("mu", 0.0)};
    const std::vector<double> pion = numbers(entry.at(is_clover ? "pion" : "pion_charged_P"));  // others change sign
    for (const auto& [name, field] : is_clover ? of_clover : of_twisted_mass)
      checks.push_back(solved.check(fmt::format("golden {} {}", key, name), configuration, entry.value("reunitarised", false), action,
                                    entry.at("boundary").at(3) < 0, name, numbers(entry.at(field)), pion));
  }
}

/// Cases named wilson_l8888_antiperiodic_k0.12_c0.0_pion.
void check_golden_milc(const json& golden, SolvedCorrelators& solved, std::vector<Check>& checks) {
  static const std::regex pattern("(?:wilson|clover)_(l[0-9]+)_(periodic|antiperiodic)_k([0-9.]+)_c([0-9.]+)_(pion|rho)([xyz]?)");
  for (const auto& [key, entry] : golden.items()) {
    std::smatch part;
    if (!std::regex_match(key, part, pattern)) continue;
    const std::string channel = part[5].str() + (part[6].length() > 0 ? "_" + part[6].str() : "");
    checks.push_back(solved.check("MILC " + key, golden_configuration("lat.sample." + part[1].str()), true,
                                  {std::stod(part[3]), std::stod(part[4])}, part[2] == "antiperiodic", channel,
                                  entry.at("re").get<std::vector<double>>()));
  }
}

/// {"sigma": 2, "N": 10, "link_smearing": "APE .6 x3 spatial"}.
QuarkSmearing golden_smearing(const json& known) {
  QuarkSmearing smearing{QuarkSmearing::Form::gaussian, known.at("sigma"), known.at("N")};
  if (known.at("link_smearing") != "none") {
    smearing.ape = 0.6;
    smearing.ape_steps = 3;
  }
  return smearing;
}

/// Cases named had.CONFIGURATION.*, of Wilson quarks: all mesons at rest, the pion with momentum 1,0,0, protons, three-point functions of
/// the pion, smeared sources and sinks, walls.
void check_golden_hadrons(const json& golden, const VerifyConfig& config, std::vector<Check>& checks) {
  // In Chroma's order.
  constexpr const char* names[16] = {"a0", "rho_x",  "rho_y",  "b1_z", "rho_z",  "b1_y", "b1_x", "pion2",
                                     "b0", "rho2_x", "rho2_y", "a1_z", "rho2_z", "a1_y", "a1_x", "pion"};
  for (const auto& [key, entry] : golden.items()) {
    if (!key.starts_with("had.")) continue;
    const KnownConfiguration& configuration = golden_configuration(entry.at("config"));
    const std::string path = config.data + "/" + configuration.file;
    if (!std::filesystem::exists(path)) {
      checks.push_back(skipped("golden " + key, "no file " + path));
      continue;
    }
    const HostGauge gauge = load_gauge(path, configuration.lattice).gauge;
    std::vector<Correlator> solved;
    const auto solve = [&](const WantedCorrelators& wanted) {
      solved = verified_correlators(gauge, {.kappa = entry.at("kappa"), .csw = entry.at("csw")}, antiperiodic_in_time, config, wanted);
    };
    /// Over the real parts of the known one, or over those of another.
    const auto check = [&](const std::string& what, const std::string& name, const json& known,
                           std::optional<std::vector<double>> scale = {}) {
      const Correlator& got = correlator_named(solved, name);
      const bool complex = known.front().is_array();
      const std::vector<double> re = complex ? numbers(known, 0) : known.get<std::vector<double>>(),
                                im = complex ? numbers(known, 1) : std::vector<double>{};
      if (!scale) scale = re;
      checks.push_back(compare(fmt::format("golden {} {}", key, what), over(re, im, *scale),
                               over(got.values, complex ? got.imaginary : std::vector<double>{}, *scale), correlator_limit, false));
    };
    ThreePointSettings three_points;
    const int sink = entry.at("sequential_tf");
    three_points.hadrons = {{&contract::hadrons().front(), sink}};
    three_points.currents = {"scalar", "vector_t", "conserved_t"};
    solve({.request = {.names = {"mesons", "octet"}, .momenta = {{0, 0, 0}, {1, 0, 0}}}, .three_points = three_points});
    const json& at_rest = entry.at("mesons16_point_p000");
    const auto pion = at_rest[15].get<std::vector<double>>();
    for (std::size_t n = 0; n < 16; ++n) check(names[n], names[n], at_rest[n], pion);
    for (const auto& [name, field] : {std::pair{"pion_p1,0,0", "point_pion_p100"},
                                      {"proton", "point_proton_p000"},
                                      {"proton_p1,0,0", "point_proton_p100"},
                                      {"proton_mixed", "point_proton_Tmixed_p000"}})
      check(name, name, entry.at(field));
    // Near its zeros a current is what is left of larger terms: over its largest value.
    for (const auto& [name, field] :
         {std::pair{"scalar", "sequential_3pt_1"}, {"vector_t", "sequential_3pt_g4"}, {"conserved_t", "sequential_3pt_conserved_V4"}}) {
      double largest = 0;
      for (const double value : numbers(entry.at(field), 0)) largest = std::max(largest, std::abs(value));
      const std::string correlator = fmt::format("pion{}{}_{}", three_point_mark, sink, name);
      check(correlator, correlator, entry.at(field), std::vector<double>(pion.size(), largest));
    }
    const QuarkSmearing gaussian = golden_smearing(entry.at("gaussian"));
    Source smeared;
    smeared.smearing = gaussian;
    solve({.request = {.names = {"pion", "proton"}}, .source = smeared, .sinks = {Sink{}, Sink{gaussian}}});
    for (const std::string name : {"pion", "proton"}) {
      check("gaussian source, " + name, name, entry.at("gaussian_point_" + name));
      check("gaussian source and sink, " + name, name + "_sink-" + text_of(Sink{gaussian}), entry.at("gaussian_gaussian_" + name));
    }
    solve({.request = {.names = {"pion"}}, .source = {Source::Kind::wall, {}}});
    check("wall", "pion", entry.at("wall_norm2_by_t"));
    solve({.request = {.names = {"pion"}}, .source = {Source::Kind::wall, {}, 1, {1, 0, 0}}});
    check("wall with momentum 1,0,0", "pion", entry.at("momentum_wall_p100_norm2_by_t"));
  }
}

}  // namespace

std::optional<json> read_golden(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) return {};
  try {
    return json::parse(stream);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::input, path, error.what(), "get another copy of the reference data");
  }
}

std::vector<Check> check_configurations(const VerifyConfig& config) {
  std::vector<Check> checks;
  for (const KnownConfiguration& known : known_configurations()) {
    const std::string path = config.data + "/" + known.file, name = "plaquettes " + known.file;
    if (!std::filesystem::exists(path)) {
      checks.push_back(skipped(name, "no file " + path));
      continue;
    }
    const LoadedGauge loaded = load_gauge(path, known.lattice);
    checks.push_back(
        compare(name, known.plaquettes, {loaded.plaquettes.spatial, loaded.plaquettes.temporal}, known.plaquette_limit, false));
    if (known.link_trace)
      checks.push_back(compare("link trace " + known.file, {*known.link_trace}, {loaded.link_trace}, known.link_trace_limit, false));
  }
  return checks;
}

std::vector<Check> check_golden_correlators(const VerifyConfig& config) {
  std::vector<Check> checks;
  SolvedCorrelators solved(config);
  const std::string ours = config.data + "/golden.json", more = config.data + "/golden-2.json", milc = config.data + "/golden-milc.json";
  if (const auto golden = read_golden(ours)) check_golden(*golden, solved, checks);
  else checks.push_back(skipped("golden correlators", "no file " + ours));
  if (const auto golden = read_golden(more)) {
    check_golden_2(*golden, solved, checks);
    check_golden_hadrons(*golden, config, checks);
  } else {
    checks.push_back(skipped("golden clover and twisted-mass correlators, hadrons", "no file " + more));
  }
  if (const auto golden = read_golden(milc)) check_golden_milc(*golden, solved, checks);
  else checks.push_back(skipped("MILC correlators", "no file " + milc));
  return checks;
}

}  // namespace quarkstar::app
