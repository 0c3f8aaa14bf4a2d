// Staggered cases of `quarkstar verify`: free spectra, MILC's links and vectors, correlators of other codes.
#include "apps/run/gauge_io.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/verify/verify.hpp"
#include "apps/verify/verify_solve.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/actions/staggered/recipe.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/io/scidac_field.hpp"
#include "solvers/solver.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <regex>

namespace quarkstar::app {
namespace {

using nlohmann::json;

/// A plane wave e^{ipx}, antiperiodic in time, and -D^2's eigenvalue sum_mu [2 (c1 sin p_mu + c3 sin 3 p_mu)]^2 for it.
struct FreeWave {
  HostField wave;
  double eigenvalue = 0;
  FreeWave(const Coord& n, const Coord& extents, double c1, double c3) : wave(colour_components, extents) {
    std::array<double, 4> p;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      p[mu] = 2 * std::numbers::pi * (n[mu] + (mu == 3 ? 0.5 : 0.0)) / extents[mu];
      eigenvalue += std::pow(2 * (c1 * std::sin(p[mu]) + c3 * std::sin(3 * p[mu])), 2);
    }
    for (std::int64_t site = 0; site < volume(extents); ++site) {
      const Coord x = coordinates(site, extents);
      double phase = 0;
      for (std::size_t mu = 0; mu < 4; ++mu) phase += p[mu] * x[mu];
      for (int c = 0; c < 3; ++c) wave.at(site, c) = std::polar(1.0 / (1 + c), phase);
    }
  }
};

/// -D^2 of all waves together.
std::vector<HostField> minus_square(const smear::StaggeredLinks& links, const runtime::Decomposition& decomposition,
                                    const std::vector<HostField>& waves) {
  const auto lattice = std::make_shared<Lattice>(decomposition, Precision::double_, periodic, LayoutRequest{.reach = links.reach()});
  staggered::Links even(lattice, 0, 18), odd(lattice, 1, 18);
  staggered::load(even, odd, links);
  const int n = static_cast<int>(waves.size());
  staggered::Dslash dslash(even, odd, n);
  std::vector<HostField> result(waves.size(), HostField(colour_components, links.fat.extents));
  for (const int parity : {0, 1}) {
    const Field in(lattice, parity, colour_components, n), between(lattice, 1 - parity, colour_components, n),
        out(lattice, parity, colour_components, n);
    transfer::load(in, waves);
    dslash.apply(between, in);
    dslash.apply(out, between, {.scale = same_for_all(-1)});
    transfer::store(result, out);
    runtime::Session::current().wait_all();
  }
  return result;
}

Check check_spectrum(const ActionKind& kind, double c1, double c3, const VerifyConfig& config) {
  const Coord extents{4, 4, 4, 8};
  runtime::Session session(config.session);
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, session.block_owners());
  const HostGauge unit = heatbath::cold_start(extents);
  const smear::StaggeredLinks links = staggered::find_recipe(kind.name)->make(decomposition, unit, antiperiodic_in_time, {});
  std::vector<double> expected, got;
  for (int first = 0; first < static_cast<int>(volume(extents)); first += most_vectors) {
    std::vector<HostField> waves;
    std::vector<double> eigenvalues;
    for (int k = first; k < first + most_vectors; ++k) {
      FreeWave wave(coordinates(k, extents), extents, c1, c3);
      waves.push_back(std::move(wave.wave));
      eigenvalues.push_back(wave.eigenvalue);
    }
    const std::vector<HostField> images = minus_square(links, decomposition, waves);
    for (std::size_t v = 0; v < waves.size(); ++v) {
      // Everything that an image holds beyond the eigenvalue times its wave counts as deviation.
      double worst = 0;
      for (std::size_t i = 0; i < waves[v].data.size(); ++i)
        worst = std::max(worst, std::abs(images[v].data[i] - eigenvalues[v] * waves[v].data[i]));
      expected.push_back(eigenvalues[v]);
      got.push_back(eigenvalues[v] + worst);
    }
  }
  return compare(fmt::format("free spectrum 4x4x4x8 {} (all momenta)", kind.name), expected, got, 1e-12, false);
}

std::vector<Correlator> solved(const RunConfig& settings, const HostGauge& gauge, const VerifyConfig& config) {
  RunReport report;
  report.config = settings;
  report.config.session = config.session;
  report.config.solver.tolerance = 1e-13;
  complete(report.config);
  solve_source(links_at_hand(gauge), gauge.extents, report, *config.watch);
  return report.correlators;
}

/// Solved once for each key: several channels share a propagator.
class StaggeredCorrelators {
 public:
  explicit StaggeredCorrelators(const VerifyConfig& config) : config_(config) {}
  Check check(const std::string& name, const std::string& file, bool reunitarize, const RunConfig& settings, const std::string& channel,
              const std::vector<double>& expected) {
    const std::string path = config_.data + "/" + file;
    if (!std::filesystem::exists(path)) return skipped(name, "no file " + path);
    std::string key = fmt::format("{} {} {}", file, reunitarize, settings.action->name);
    for (const auto& [name, value] : settings.settings) key += fmt::format(" {} {}", name, value_text(value));
    auto found = solved_.find(key);
    if (found == solved_.end()) {
      LoadedGauge loaded = load_gauge(path);
      if (reunitarize) gauge::reunitarize(loaded.gauge, host_team());
      found = solved_.emplace(key, solved(settings, loaded.gauge, config_)).first;
    }
    return compare(name, expected, correlator_named(found->second, channel).values, correlator_limit, true);
  }

 private:
  const VerifyConfig& config_;
  std::map<std::string, std::vector<Correlator>> solved_;
};

RunConfig settings_of(const std::string& action, double mass, double u0, double epsilon) {
  RunConfig config;
  config.action = &kind_named(action);
  for (const auto& [key, value] : {std::pair{"mass", mass}, {"naik-epsilon", epsilon}, {"u0", u0}})
    if (const ActionSetting* setting = config.action->setting(key)) set_value(config.settings, *setting, value);
  return config;
}

/// Links as stored, keys such as milc.l4444.hisq.m0.1.ap.
void check_golden(const json& golden, StaggeredCorrelators& correlators, std::vector<Check>& checks) {
  static const std::regex pattern("milc\\.(l[0-9]+)\\.(naive|hisq|asqtad)\\..*");
  for (const auto& [key, entry] : golden.items()) {
    std::smatch part;
    if (!std::regex_match(key, part, pattern)) continue;
    checks.push_back(correlators.check("golden " + key, "milc/lat.sample." + part[1].str(), false,
                                       settings_of(part[2], entry.at("mass"), entry.at("u0"), entry.at("eps")), "pion5",
                                       entry.at("pion_pt_C_t").get<std::vector<double>>()));
  }
}

/// Reunitarized links, keys such as hisq_l8888_antiperiodic_m0.05_e0_rhox and asqtad_l8888_antiperiodic_m0.05_u0.8696_pion5.
void check_milc(const json& golden, StaggeredCorrelators& correlators, std::vector<Check>& checks) {
  static const std::regex pattern("(hisq|asqtad)_(l[0-9]+)_antiperiodic_m([0-9.]+)_([eu])(-?[0-9.]+)_(pion5|rho[xyz])");
  for (const auto& [key, entry] : golden.items()) {
    std::smatch part;
    if (!std::regex_match(key, part, pattern)) continue;
    const double number = std::stod(part[5]);
    const std::string channel = part[6] == "pion5" ? "pion5" : "rho_" + part[6].str().substr(3);
    checks.push_back(correlators.check("MILC " + key, "milc/lat.sample." + part[2].str(), true,
                                       settings_of(part[1], std::stod(part[3]), number, part[4] == "e" ? number : 0), channel,
                                       entry.at("re").get<std::vector<double>>()));
  }
}

HostField read_vector(const std::string& path) {
  const format::ScidacFieldFile file(path);
  const HostReals reals = file.read(file.description().records.front(), 6);
  HostField field(colour_components, file.extents());
  for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = {reals[2 * i], reals[2 * i + 1]};
  return field;
}

/// MILC's own links, source and answers: asqtad, u0 = 0.502, m = 0.1, antiperiodic in time; files in single precision.
std::vector<Check> check_milc_vectors(const VerifyConfig& config) {
  constexpr double limit = 1e-6;
  const std::string folder = config.data + "/milc/", invert = "MILC ksvector M^-1 src (fat.l8, long.l8)",
                    normal = "MILC ksvector (M^+ M)^-1 src (fat.l8, long.l8)";
  for (const char* file :
       {"fat.l8", "long.l8", "ksvector.src.sample.l8", "ksvector.ans.Minv.sample.l8", "ksvector.ans.MdaggerMinv.sample.l8"})
    if (!std::filesystem::exists(folder + file))
      return {skipped(invert, "no file " + folder + file), skipped(normal, "no file " + folder + file)};
  const smear::StaggeredLinks links = smear::read_links(folder + "fat.l8", folder + "long.l8");
  const HostField source = read_vector(folder + "ksvector.src.sample.l8");
  runtime::Session session(config.session);
  SolverSettings settings;
  settings.solver = conjugate_gradients(true).name;
  settings.tolerance = 1e-12;
  Solver solver(runtime::Decomposition(source.extents, {1, 1, 1, 1}, session.block_owners()), staggered::Action(links), settings);
  const double mass = 0.1;
  // M^+ = e M e with e the sign of a site, so (M^+ M)^-1 = M^-1 e M^-1 e.
  const auto signed_sites = [](HostField field) {
    for (std::int64_t site = 0; site < volume(field.extents); ++site)
      if (parity_of(coordinates(site, field.extents)) == 1)
        for (int c = 0; c < 3; ++c) field.at(site, c) = -field.at(site, c);
    return field;
  };
  const auto solve = [&](const HostField& right) {
    HostField solution(colour_components, right.extents);
    solver.solve(right, mass, solution);
    return solution;
  };
  const auto deviation = [&](const std::string& name, const HostField& got, const HostField& known) {
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < known.data.size(); ++i) {
      worst = std::max(worst, std::abs(got.data[i] - known.data[i]));
      largest = std::max(largest, std::abs(known.data[i]));
    }
    return compare(name, {0}, {worst / largest}, limit, false);
  };
  return {deviation(invert, solve(source), read_vector(folder + "ksvector.ans.Minv.sample.l8")),
          deviation(normal, solve(signed_sites(solve(signed_sites(source)))), read_vector(folder + "ksvector.ans.MdaggerMinv.sample.l8"))};
}

}  // namespace

std::vector<Check> check_free_staggered(const VerifyConfig& config) {
  return {check_spectrum(naive_kind(), 1, 0, config), check_spectrum(asqtad_kind(), 9. / 8, -1. / 24, config),
          check_spectrum(hisq_kind(), 9. / 8, -1. / 24, config)};
}

std::vector<Check> check_staggered_data(const VerifyConfig& config) {
  std::vector<Check> checks = check_milc_vectors(config);
  StaggeredCorrelators correlators(config);
  const std::string ours = config.data + "/golden.json", milc = config.data + "/golden-milc.json";
  if (const auto golden = read_golden(ours)) check_golden(*golden, correlators, checks);
  else checks.push_back(skipped("golden staggered correlators", "no file " + ours));
  if (const auto golden = read_golden(milc)) check_milc(*golden, correlators, checks);
  else checks.push_back(skipped("MILC staggered correlators", "no file " + milc));
  return checks;
}

}  // namespace quarkstar::app
