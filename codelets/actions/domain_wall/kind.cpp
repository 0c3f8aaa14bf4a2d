// Domain wall (Shamir) and Moebius.
#include "codelets/actions/wilson/kind.hpp"

#include "codelets/actions/domain_wall/action.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar {
namespace {

using Type = ActionSetting::Type;

class DomainWallKind : public WilsonKind {
 public:
  DomainWallKind() {
    name = "domain-wall";
    title = "Domain wall";
    mass_key = "mass";
    names_masses = true;
    settings = {mass_setting(0.1),
                {.key = "m5",
                 .metavar = "M5",
                 .help = "Domain wall, moebius: height of the wall, D_W has mass -M5 (default 1.8)",
                 .initial = 1.8,
                 .above = 0,
                 .below = 2},
                {.key = "ls",
                 .metavar = "L",
                 .help = "Domain wall, moebius: slices of the fifth dimension, even, 4 to 32 (default 12)",
                 .type = Type::integer,
                 .initial = 12,
                 .above = domain_wall::least_slices - 1,
                 .below = domain_wall::most_slices + 1},
                *setting("nu"),
                *setting("xi0")};
    solver_settings = {"schur", "restart"};
    currents = {"local"};  // the conserved current is a sum over slices
    heavy = {{"mass", 0.5}, {"ls", 4}};
    bench_solvers = {"cgnr"};
    bench_mass = {0.05, 1e-6, 10};
  }

  void check(const SettingValues& values) const override { domain_wall::check_parameters(five(values), get<int>(values, "ls")); }
  int slices(const SettingValues& values) const override { return get<int>(values, "ls"); }
  int images(Schur schur) const override { return schur == Schur::symmetric ? 2 : 1; }

  std::unique_ptr<Action> action(const HostGauge& gauge, const ActionRun& run) const override {
    domain_wall::Parameters parameters = five(run.settings);
    parameters.links.boundary = run.boundary;
    return std::make_unique<domain_wall::Action>(gauge, parameters);
  }

 protected:
  /// b5 or c5 of every slice.
  virtual std::vector<double> coefficients(const SettingValues&, bool of_b, std::size_t slices) const {
    return std::vector<double>(slices, of_b ? 1 : 0);
  }

 private:
  domain_wall::Parameters five(const SettingValues& values) const {
    const auto slices = static_cast<std::size_t>(std::max(0, get<int>(values, "ls")));
    domain_wall::Parameters parameters{.m5 = get<double>(values, "m5"),
                                       .mass = get<double>(values, "mass"),
                                       .b = coefficients(values, true, slices),
                                       .c = coefficients(values, false, slices)};
    parameters.links.nu = get<double>(values, "nu");
    parameters.links.xi0 = get<double>(values, "xi0");
    return parameters;
  }
};

class MoebiusKind final : public DomainWallKind {
 public:
  MoebiusKind() {
    name = "moebius";
    title = "Moebius";
    settings.push_back({.key = "b5",
                        .metavar = "B,...",
                        .help = "Moebius: b5 of (b5 D_W + 1) psi + (c5 D_W - 1) L psi (default 1.5), or one for each slice",
                        .type = Type::reals,
                        .initial = std::vector<double>{1.5}});
    settings.push_back({.key = "c5",
                        .metavar = "C,...",
                        .help = "Moebius: c5 (default 0.5), or one for each slice",
                        .type = Type::reals,
                        .initial = std::vector<double>{0.5}});
  }

  /// One more than Shamir's, whose slices hop apart.
  int images(Schur) const override { return 2; }
  std::string obstacle_to_sequential(const SettingValues& values) const override {
    const auto slices = static_cast<std::size_t>(std::max(0, get<int>(values, "ls")));
    const std::vector<double> b = coefficients(values, true, slices), c = coefficients(values, false, slices);
    for (std::size_t s = 1; s < std::min(b.size(), c.size()); ++s)
      if (std::abs(b[s] - c[s] - (b[0] - c[0])) > 1e-12) return "b5 - c5 is not the same on all slices, so that g5 S is not hermitian";
    return "";
  }

 protected:
  std::vector<double> coefficients(const SettingValues& values, bool of_b, std::size_t slices) const override {
    const auto& given = get<std::vector<double>>(values, of_b ? "b5" : "c5");
    return given.size() == 1 ? std::vector<double>(slices, given[0]) : given;
  }
};

}  // namespace

const ActionKind& domain_wall_kind() {
  static const DomainWallKind kind;
  return kind;
}
const ActionKind& moebius_kind() {
  static const MoebiusKind kind;
  return kind;
}

}  // namespace quarkstar
