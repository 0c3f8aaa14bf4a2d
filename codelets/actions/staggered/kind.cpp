// Staggered actions: HISQ, asqtad and naive.
#include "codelets/actions/action_kind.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/actions/staggered/links_input.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar {
namespace {

using Type = ActionSetting::Type;

ActionSetting masses_setting() {
  return {.key = "masses",
          .metavar = "M,...",
          .help = "Staggered: several masses from each source (multishift solves them together)",
          .type = Type::reals,
          .initial = std::vector<double>{0.1},
          .above = 0,
          .instead_of = "mass",
          .implies = [](SettingValues& values) { values["mass"] = std::get<std::vector<double>>(values["masses"]).front(); }};
}

ActionSetting file_setting(std::string_view key, std::string_view help) {
  return {.key = key, .metavar = "FILE", .help = help, .type = Type::file, .initial = ""};
}

class StaggeredKind : public ActionKind {
 public:
  StaggeredKind(std::string_view its_name, std::string_view its_title, bool has_long_links, std::vector<LinkStage> its_making) {
    name = its_name;
    title = its_title;
    components = colour_components;
    is_hermitian = true;
    mass_key = "mass";
    names_masses = true;
    masses_shift = true;
    reach = smear::longest_hop(has_long_links);
    face = {2 * colour_components, true};
    flops = staggered::dslash_flops(has_long_links);
    link_reals = has_long_links ? std::vector<int>{18, 14, 13, 9} : std::vector<int>{18};
    settings = {mass_setting(0.1), masses_setting()};
    if (has_long_links) {
      settings.push_back(
          file_setting("fat", "hisq, asqtad: fat links from a SciDAC file (`gauge smear`, MILC) instead of a configuration; with --long"));
      settings.push_back(file_setting("long", "The long links that belong to --fat"));
      link_files = {"fat", "long"};
    }
    making = std::move(its_making);
    solver_settings = {"recycle"};
    heavy = {{"mass", 0.5}};
    correlators = {"staggered-mesons"};
    bench_links = {18};
    bench_numbers = {1, 2, 4, 8, 16};
    bench_solvers = {"cg"};
    bench_mass = {1e-3, 1e-12, 100};
  }

  void check(const SettingValues& values) const override {
    for (const double mass : masses(values))
      if (!(mass > 0))
        throw Error(ErrorKind::input, Parameter("mass"), fmt::format("{} is not positive", mass),
                    "give a mass above 0: the even-odd system divides by it");
  }
  std::vector<double> masses(const SettingValues& values) const override { return get<std::vector<double>>(values, "masses"); }

  Coord accept_files(ActionRun& run) const override { return staggered::accept_links_headers(*this, run); }

  MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                          ActionRun& run) const override {
    if (has_own_links(run.settings))
      return all_masses_on(decomposition, staggered::load_links(*this, run, decomposition, session.cpu_team()), run.identify);
    return make_operators(decomposition, links(decomposition, run.gauge), run);
  }

  RunOperator with_any_links(HostGauge gauge, const ActionRun&) const override {
    const auto links = std::make_shared<smear::StaggeredLinks>();
    links->has_long = has_long();
    if (has_long()) {
      links->long_links = gauge;
      links->long_scale = smear::hisq_naik_weight(0);
      for (double& real : links->long_links.data) real *= links->long_scale;
    }
    links->fat = std::move(gauge);
    RunOperator made;
    made.action = std::make_unique<staggered::Action>(*links);
    made.links = links;
    return made;
  }

 protected:
  bool has_long() const { return reach > 1; }
  /// Of links that are made of the configuration.
  virtual MakeOperator make_operators(const runtime::Decomposition& decomposition, const HostGauge& gauge, const ActionRun& run) const = 0;

  RunOperator operator_on(const runtime::Decomposition& decomposition, std::shared_ptr<const smear::StaggeredLinks> made,
                          bool identify) const {
    RunOperator result;
    result.action = std::make_unique<staggered::Action>(*made);
    result.numbers = {{"naik_epsilons", made->naik_epsilon}};
    if (identify) result.equation = staggered::describe_operator(name, *made, decomposition);
    result.links = std::move(made);
    return result;
  }
  MakeOperator all_masses_on(const runtime::Decomposition& decomposition, smear::StaggeredLinks made, bool identify) const {
    return [this, decomposition, identify, shared = std::make_shared<const smear::StaggeredLinks>(std::move(made))](
               std::span<const std::size_t>) { return operator_on(decomposition, shared, identify); };
  }
};

class Hisq : public StaggeredKind {
 public:
  Hisq()
      : StaggeredKind("hisq", "HISQ", true, {{{1, 2}, false}, {{2}, true}})  // U and W, and without U once X and N for epsilon 0 are there
  {
    settings.push_back({.key = "naik-epsilon",
                        .metavar = "E|auto",
                        .help = "HISQ: correction of the Naik term (default 0); auto: from each mass",
                        .initial = 0.0,
                        .names = {"auto"},
                        .makes_links = true});
  }
  void check(const SettingValues& values) const override {
    StaggeredKind::check(values);
    if (const double* epsilon = naik_epsilon(values)) return smear::check_naik_epsilon(*epsilon);
    for (const double mass : masses(values)) smear::naik_epsilon_of_mass(mass);  // throws where the series has no answer
  }
  bool masses_share_links(const SettingValues& values) const override { return naik_epsilon(values) != nullptr || has_own_links(values); }

 protected:
  MakeOperator make_operators(const runtime::Decomposition& decomposition, const HostGauge& gauge, const ActionRun& run) const override {
    if (const double* epsilon = naik_epsilon(run.settings))
      return all_masses_on(decomposition, smear::hisq_links(decomposition, gauge, run.boundary, *epsilon), run.identify);
    const auto hisq = std::make_shared<const smear::HisqLinks>(decomposition, gauge, run.boundary);  // an epsilon for each mass
    return [this, decomposition, hisq, all = masses(run.settings), identify = run.identify](std::span<const std::size_t> masses) {
      const double epsilon = smear::naik_epsilon_of_mass(all[masses.front()]);
      return operator_on(decomposition, std::make_shared<const smear::StaggeredLinks>(hisq->links(epsilon)), identify);
    };
  }

 private:
  /// nullptr: auto.
  const double* naik_epsilon(const SettingValues& values) const { return std::get_if<double>(&value(values, "naik-epsilon")); }
};

class Asqtad : public StaggeredKind {
 public:
  Asqtad() : StaggeredKind("asqtad", "asqtad", true, {{{2}, true}}) {
    settings.push_back({.key = "u0", .metavar = "U", .help = "asqtad: tadpole factor", .above = 0, .makes_links = true});
    heavy.emplace_back("u0", 1.0);
    bench_settings = {{"u0", 1.0}};
  }
  void check(const SettingValues& values) const override {
    StaggeredKind::check(values);
    if (!has_own_links(values) && !std::holds_alternative<double>(value(values, "u0")))
      throw Error(ErrorKind::input, Parameter("u0"), "asqtad needs a tadpole factor", "give it, e.g. --u0 0.87, or --u0 1");
  }

 protected:
  MakeOperator make_operators(const runtime::Decomposition& decomposition, const HostGauge& gauge, const ActionRun& run) const override {
    const double* u0 = std::get_if<double>(&value(run.settings, "u0"));
    return all_masses_on(decomposition, smear::asqtad_links(decomposition, gauge, run.boundary, u0 != nullptr ? *u0 : 1), run.identify);
  }
};

class Naive : public StaggeredKind {
 public:
  Naive() : StaggeredKind("naive", "naive staggered", false, {{.depths = {}, .stored = true}}) {}

 protected:
  MakeOperator make_operators(const runtime::Decomposition& decomposition, const HostGauge& gauge, const ActionRun& run) const override {
    return all_masses_on(decomposition, smear::naive_links(decomposition, gauge, run.boundary), run.identify);
  }
};

}  // namespace

const ActionKind& hisq_kind() {
  static const Hisq kind;
  return kind;
}
const ActionKind& asqtad_kind() {
  static const Asqtad kind;
  return kind;
}
const ActionKind& naive_kind() {
  static const Naive kind;
  return kind;
}

}  // namespace quarkstar
