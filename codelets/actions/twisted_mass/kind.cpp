// Twisted mass, with csw twisted clover: clover's action with mu.
#include "codelets/actions/clover/kind.hpp"

namespace quarkstar {
namespace {

class TwistedMassKind final : public CloverKind {
 public:
  TwistedMassKind() : CloverKind(0) {
    name = "twisted-mass";
    title = "Twisted mass";
    flops = 1320 + 48;
    correlators = {"mesons", "neutral-mesons"};  // no baryons, which a u quark and a d quark make: of one quark alone they mean nothing
    mass_key = "mu";
    names_masses = true;
    masses_shift = true;
    settings.push_back(
        {.key = "mu",
         .metavar = "MU,...",
         .help = "Twisted mass: mu of 2 i kappa mu gamma_5 (default 0.1), or several (without csw multishift solves them together)",
         .type = ActionSetting::Type::reals,
         .initial = std::vector<double>{0.1}});
    heavy.emplace_back("mu", std::vector<double>{0.1, -0.1});
    bench_mass = {1e-4, 0, 1};
    bench_settings = {{"kappa", WilsonKind{}.bench_mass.usual}};
  }
  std::vector<double> masses(const SettingValues& values) const override { return get<std::vector<double>>(values, "mu"); }
  bool masses_share_links(const SettingValues& values) const override {
    return !term_parameters(values).has_clover();  // the inverse of the term depends on mu
  }

  double sequential_mass(double mass) const override { return -mass; }

 protected:
  clover::Parameters term_parameters(const SettingValues& values) const override {
    clover::Parameters term = CloverKind::term_parameters(values);
    term.mu = masses(values).front();
    term.mass_is_mu = true;
    return term;
  }
};

}  // namespace

const ActionKind& twisted_mass_kind() {
  static const TwistedMassKind kind;
  return kind;
}

}  // namespace quarkstar
