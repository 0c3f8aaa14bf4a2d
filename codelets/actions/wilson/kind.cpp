#include "codelets/actions/wilson/kind.hpp"

#include "codelets/actions/wilson/action.hpp"
#include "codelets/actions/wilson/face_words.hpp"
#include "codelets/lattice/boundary_text.hpp"

#include <fmt/format.h>

namespace quarkstar {
namespace {

constexpr double largest_kappa = 10;  // far beyond any use; the free critical value is 1/8

constexpr double mass_of(double kappa) { return 0.5 / kappa - 4; }

ActionSetting kappa_setting() {
  return {.key = "kappa",
          .metavar = "K",
          .help = "Hopping parameter (default 0.13)",
          .initial = WilsonParameters{}.kappa,
          .above = 0,
          .below = largest_kappa,
          .instead_of = "mass",
          .implies = [](SettingValues& values) { values["mass"] = mass_of(std::get<double>(values["kappa"])); }};
}

ActionSetting anisotropy_setting(std::string_view key, std::string_view metavar, std::string_view help) {
  return {.key = key, .metavar = metavar, .help = help, .initial = 1.0, .above = 0};
}

}  // namespace

ActionSetting mass_setting(double initial) {
  return {
      .key = "mass",
      .metavar = "M",
      .help =
          "Wilson: bare mass instead of kappa = 1 / (2 (M + 4)); domain wall: mass of the quark, staggered: of M = 2m + D (default 0.1)",
      .initial = initial,
      .above = mass_of(largest_kappa),
      .implies = [](SettingValues& values) {
        const double mass = std::get<double>(values["mass"]);
        values["kappa"] = 0.5 / (mass + 4);
        values["masses"] = std::vector<double>{mass};
      }};
}

ActionSetting normalisation_setting() {
  return {.key = "normalisation",
          .metavar = "NAME",
          .help = "kappa: M = 1 - kappa H (default); mass: M = (M0 + 4) - H/2",
          .type = ActionSetting::Type::name,
          .initial = "kappa",
          .names = {"kappa", "mass"}};
}

WilsonKind::WilsonKind() {
  name = "wilson";
  title = "Wilson";
  components = spinor_components;
  is_hermitian = false;
  mass_key = "kappa";
  names_masses = false;
  face = wilson::face_format;
  flops = 1320;
  link_reals = {18, 12, 8};
  settings = {kappa_setting(), mass_setting(mass_of(WilsonParameters{}.kappa)), normalisation_setting(),
              anisotropy_setting("nu", "NU", "Wilson-type actions, anisotropic: hops in space are multiplied by nu / xi0 (default 1)"),
              anisotropy_setting("xi0", "XI", "Bare anisotropy of the configuration, for nu and csw (default 1)")};
  solver_settings = {"schur",     "restart",      "schwarz-block",    "schwarz-steps", "inner-solver",    "inner-steps",
                     "aggregate", "null-vectors", "smoother-steps",   "coarse-steps",  "setup-steps",     "setup-cycles",
                     "levels",    "cycle-steps",  "coarse-precision", "no-fallback",   "multigrid-setup", "recycle"};
  heavy = {{"kappa", 0.11}};
  correlators = {"mesons", "octet", "decuplet"};
  currents = {"local", "conserved_x", "conserved_y", "conserved_z", "conserved_t"};
  bench_links = {18, 12};
  bench_numbers = {1};
  bench_solvers = {"bicgstab", "cgnr"};
  bench_mass = {0.245, 1e-6, 0.2499};  // the critical value is 1/4: close below it a digit takes as many iterations as in physics
}

WilsonParameters WilsonKind::parameters(const ActionRun& run) const {
  WilsonParameters parameters{.kappa = get<double>(run.settings, "kappa"), .boundary = run.boundary};
  if (setting("nu") != nullptr) parameters.nu = get<double>(run.settings, "nu");
  if (setting("xi0") != nullptr) parameters.xi0 = get<double>(run.settings, "xi0");
  if (setting("normalisation") != nullptr && get<std::string>(run.settings, "normalisation") == "mass")
    parameters.normalisation = WilsonParameters::Normalisation::mass;
  return parameters;
}

std::array<double, 4> WilsonKind::hop_factors(const SettingValues& values) const {
  const WilsonParameters of = parameters({.settings = values});
  const double time = of.normalisation == WilsonParameters::Normalisation::mass ? 0.5 : of.kappa, space = time * of.spatial_hops();
  return {space, space, space, time};
}

std::unique_ptr<Action> WilsonKind::action(const HostGauge& gauge, const ActionRun& run) const {
  return std::make_unique<wilson::Action>(gauge, parameters(run));
}

MakeOperator WilsonKind::make_links(runtime::Session&, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                                    ActionRun& run) const {
  const HostGauge& gauge = links(decomposition, run.gauge);
  return [this, &gauge, run](std::span<const std::size_t> own) {
    RunOperator made;
    ActionRun of_masses = run;
    if (!masses_share_links(run.settings)) of_masses.settings[std::string(mass_key)] = std::vector{masses(run.settings)[own.front()]};
    made.action = action(gauge, of_masses);
    if (!run.identify) return made;
    const GaugeSummary& read = run.gauge;
    made.equation = fmt::format("action {} plaquette {:.13e} link trace {:.13e} links {:.13e}{}", name,
                                0.5 * (read.spatial_plaquette + read.temporal_plaquette), read.link_trace, read.place_sum,
                                read.reunitarized ? " reunitarized" : "");
    for (const ActionSetting& s : settings) {
      if (s.key == "mass" || (names_masses && s.key == mass_key)) continue;                   // kappa says it; restart files name it
      made.equation += s.type == ActionSetting::Type::name ? "" : fmt::format(" {}", s.key);  // names say what they are of
      made.equation += " " + value_text(value(run.settings, s.key));
    }
    made.equation += " boundary " + boundary_text(run.boundary);
    return made;
  };
}

RunOperator WilsonKind::with_any_links(HostGauge gauge, const ActionRun& run) const {
  const auto links = std::make_shared<const HostGauge>(std::move(gauge));
  RunOperator made;
  made.action = action(*links, run);
  made.links = links;
  return made;
}

const ActionKind& wilson_kind() {
  static const WilsonKind kind;
  return kind;
}

}  // namespace quarkstar
