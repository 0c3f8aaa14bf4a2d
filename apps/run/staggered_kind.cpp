// Staggered actions: HISQ, asqtad and naive.
#include "apps/run/action_kind.hpp"
#include "apps/run/links_input.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/contract/staggered_meson.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app {
namespace {

/// What is there at once while the links of a staggered action are made (codelets/gauge/smear/staggered_links.cpp): gauge fields with these
/// borders, those of the links that are kept, faces of the latter's borders, and fields in host order, the configuration among them. Faces
/// of other borders come and go before the last of them.
struct LinkStage {
  std::vector<int> depths;
  bool stored;  ///< whether the links that are kept are there in host order too
};

double bytes_of_gauge_fields(const Coord& extents, const LinkStage& stage, const std::vector<Coord>& kept) {
  double reals = 0;
  for (const int depth : stage.depths) reals += static_cast<double>(gauge::LinkShape{extents, {depth, depth, depth, depth}}.reals());
  for (const Coord& depth : kept) {
    const gauge::LinkShape shape{extents, depth};
    const auto field = static_cast<double>(shape.reals());
    reals += field;
    for (int mu = 0; mu < 4; ++mu) reals += 4 * depth[mu] * field / shape.padded(mu);  // sent and received, on both sides
  }
  return reals * sizeof(double);
}

/// Borders of the links that are kept.
std::vector<Coord> kept_borders(const runtime::Decomposition& decomposition, bool has_long) {
  std::vector<Coord> borders{smear::border_of_kept(decomposition, false)};
  if (has_long) borders.push_back(smear::border_of_kept(decomposition, true));
  return borders;
}

/// Of one rank. Gauge fields of one thickness are linear in it.
PartBytes gauge_fields_part_bytes(const Coord& lattice, int direction, const LinkStage& stage, bool has_long) {
  Coord thin = lattice, thick = lattice;
  thin[static_cast<std::size_t>(direction)] = 1;
  thick[static_cast<std::size_t>(direction)] = 2;
  const std::vector<Coord> kept(has_long ? 2 : 1);
  const double bytes = bytes_of_gauge_fields(thin, stage, kept), layer = bytes_of_gauge_fields(thick, stage, kept) - bytes;
  return {layer, bytes - layer};
}

int operators_in_flight(const RunConfig& config) { return operators_of(config).size() > 1 ? config.solver.in_flight : 1; }

/// Where every mass has an operator of its own, each in flight has links of its own: those of one are in the footprint.
void multiply_links(Footprint& bytes, const RunConfig& config) {
  for (double* part : {&bytes.links, &bytes.tables}) *part *= operators_in_flight(config);
}

/// Links in the making, and what stays of them. needs: of every GPU, then the host's.
void add_made_links(std::vector<MemoryNeed>& needs, const runtime::Decomposition& decomposition, const std::vector<LinkStage>& stages,
                    bool has_long, const RunConfig& config) {
  const std::size_t host = needs.size() - 1;
  const double configuration = host_gauge_bytes(format::box_with_border(decomposition));
  const std::vector<Coord> kept_fields = kept_borders(decomposition, has_long);
  double kept_links = 0;
  for (const bool is_long : {false, true})
    if (has_long || !is_long)
      kept_links += host_gauge_bytes(smear::hops_box(decomposition.part(), decomposition.lattice(), smear::longest_hop(is_long)));
  const auto bytes_of = [&](const LinkStage& stage) {
    std::vector<double> bytes(needs.size(), 0);
    for (const int b : decomposition.local()) {
      const runtime::Block& block = decomposition.block(b);
      const double fields = bytes_of_gauge_fields(block.extents, stage, kept_fields);
      if (const auto owner = static_cast<std::size_t>(block.owner); owner < host) bytes[owner] += fields;
      bytes[host] += fields;  // for a GPU's block the copy that CPUs load and store
    }
    return bytes;
  };
  for (const LinkStage& stage : stages) {
    std::vector<double> bytes = bytes_of(stage);
    bytes[host] += configuration + (stage.stored ? kept_links : 0);
    for (std::size_t i = 0; i < needs.size(); ++i) needs[i].making_links = std::max(needs[i].making_links, bytes[i]);
  }
  needs[host].other += configuration + kept_links;
  if (config.staggered.naik_epsilon) return;
  needs[host].other += (operators_in_flight(config) - 1) * kept_links;
  for (MemoryNeed& need : needs) multiply_links(need.fields, config);
  // Those for the next epsilon are made of the same.
  const std::vector<double> kept = bytes_of(stages.back());
  for (std::size_t i = 0; i < needs.size(); ++i) needs[i].fields.links += kept[i];
}

/// The phases of sinks are told from those of their source: a point, or corners of hypercubes.
bool has_all_mesons(const Source& source) { return source.kind == Source::Kind::point || source.kind == Source::Kind::corner_wall; }

class StaggeredKind : public ActionKind {
 public:
  StaggeredKind(std::string_view its_name, std::string_view its_title, bool has_long_links) {
    name = its_name;
    title = its_title;
    components = colour_components;
    is_hermitian = true;
    names_masses = true;
    reach = smear::longest_hop(has_long_links);
    face_reals = 2 * colour_components;
    flops = staggered::dslash_flops(has_long_links);
    link_reals = has_long_links ? std::vector<int>{18, 14, 13, 9} : std::vector<int>{18};
    settings = {"mass", "masses"};
    if (has_long_links) settings.insert(settings.end(), {"fat", "long"});
    bench_links = {18};
    bench_numbers = {1, 2, 4, 8, 16};
    bench_solvers = {"cg"};
  }

  void check(const RunConfig& config) const override {
    for (const double mass : config.staggered.masses)
      if (!(mass > 0))
        throw Error(ErrorKind::input, "--mass", fmt::format("{} is not positive", mass),
                    "give a mass above 0: the even-odd system divides by it");
    check_links_files(config);
  }
  std::vector<double> masses(const RunConfig& config) const override { return config.staggered.masses; }
  bool masses_share_links(const RunConfig& config) const override {
    return config.staggered.naik_epsilon.has_value() || config.staggered.from_files();
  }
  bool has_own_links(const RunConfig& config) const override { return config.staggered.from_files(); }

  OperatorShape shape(const RunConfig& config) const override { return staggered_shape(config.solver, has_long()); }

  void add_links(std::vector<MemoryNeed>& needs, const runtime::Session&, const runtime::Decomposition& decomposition,
                 const RunConfig& config) const override {
    if (!config.staggered.from_files()) return add_made_links(needs, decomposition, stages(), has_long(), config);
    for (const Box& box : smear::boxes_from_files(decomposition)) needs.back().other += host_gauge_bytes(box);
  }

  /// An upper bound where making the links needs more borders and the solve more layers.
  PartBytes part_bytes(const Coord& lattice, int direction, const RunConfig& config) const override {
    const std::vector<int> together = numbers_together(config);
    const std::size_t mu = static_cast<std::size_t>(direction);
    const auto of_blocks = [&](const Coord& extents, const Coord& blocks) {
      return footprint(runtime::Decomposition(extents, blocks, 1), config.solver, shape(config), together).front();
    };
    Coord cut{1, 1, 1, 1}, twice = lattice;
    cut[mu] = 2;
    twice[mu] *= 2;
    Footprint whole = of_blocks(lattice, {1, 1, 1, 1});
    multiply_links(whole, config);
    PartBytes part{whole.total() / lattice[mu], of_blocks(twice, cut).faces};
    if (config.staggered.from_files()) return part;
    const std::vector<LinkStage> making_stages = stages();
    if (!config.staggered.naik_epsilon) {
      const PartBytes kept = gauge_fields_part_bytes(lattice, direction, making_stages.back(), has_long());
      part.layer += kept.layer;
      part.border += kept.border;
    }
    for (const LinkStage& stage : making_stages) {
      const PartBytes making = gauge_fields_part_bytes(lattice, direction, stage, has_long());
      part.layer = std::max(part.layer, making.layer);
      part.border = std::max(part.border, making.border);
    }
    return part;
  }

  MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                          RunReport& report) const override {
    const auto operator_on = [&report, decomposition](std::shared_ptr<const smear::StaggeredLinks> made) {
      RunOperator result;
      result.action = std::make_unique<staggered::Action>(*made);
      result.naik_epsilon = made->naik_epsilon;
      if (!report.config.checkpoint.empty()) result.equation = describe_operator(report.config, *made, decomposition);
      result.links = std::move(made);
      return result;
    };
    const auto all_masses_on = [operator_on](smear::StaggeredLinks made) -> MakeOperator {
      const auto shared = std::make_shared<const smear::StaggeredLinks>(std::move(made));
      return [operator_on, shared](std::span<const std::size_t>) { return operator_on(shared); };
    };
    const RunConfig& config = report.config;
    if (config.staggered.from_files()) return all_masses_on(load_links(report.config, decomposition, session.cpu_team(), report.gauge));
    const HostGauge& gauge = links(decomposition);
    if (config.staggered.naik_epsilon) return all_masses_on(links_of(decomposition, gauge, config.wilson.boundary, config.staggered));
    const auto hisq = std::make_shared<const smear::HisqLinks>(decomposition, gauge, config.wilson.boundary);  // an epsilon for each mass
    return [operator_on, hisq, &config](std::span<const std::size_t> masses) {
      const double epsilon = smear::naik_epsilon_of_mass(config.staggered.masses[masses.front()]);
      return operator_on(std::make_shared<const smear::StaggeredLinks>(hisq->links(epsilon)));
    };
  }

  RunOperator with_any_links(HostGauge gauge) const override {
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

  std::vector<CorrelatorReport> contract(const Propagators& propagators, const Source& source, int times) const override {
    std::vector<CorrelatorReport> correlators;
    for (const Propagator& propagator : propagators) {
      if (propagator.columns.size() != colour_components) continue;
      const std::string suffix = propagators.size() > 1 ? fmt::format("_m{}", propagator.mass) : "";
      for (const StaggeredMeson meson : all_staggered_mesons)
        if (meson == StaggeredMeson::pion5 || has_all_mesons(source))
          correlators.push_back(correlator_over_ranks(std::string(name_of(meson)) + suffix,
                                                      staggered_sums(meson, propagator.columns, source.position, times)));
    }
    return correlators;
  }
  std::string correlators_left_out(const Source& source) const override {
    if (has_all_mesons(source)) return "";
    std::vector<std::string_view> names;
    for (const StaggeredMeson meson : all_staggered_mesons)
      if (meson != StaggeredMeson::pion5) names.push_back(name_of(meson));
    return fmt::format("{}: {} has no phases of its own; use a point or corner-wall source", fmt::join(names, ", "), text_of(source));
  }

 protected:
  bool has_long() const { return reach > 1; }
  /// In order; the host fields of the last one stay.
  virtual std::vector<LinkStage> stages() const = 0;
  /// With the one Naik epsilon of the run.
  virtual smear::StaggeredLinks links_of(const runtime::Decomposition& decomposition, const HostGauge& gauge,
                                         const BoundaryAngles& boundary, const StaggeredConfig& settings) const = 0;

 private:
  /// Links from files have everything in them that makes links.
  void check_links_files(const RunConfig& config) const {
    const StaggeredConfig& staggered = config.staggered;
    if (staggered.fat.empty() != staggered.long_links.empty())
      throw Error(ErrorKind::input, staggered.fat.empty() ? "--fat" : "--long",
                  fmt::format("{} links are given alone", staggered.fat.empty() ? "long" : "fat"), "give both --fat and --long");
    if (!staggered.from_files()) return;
    for (const auto& [key, where] : config.given)
      for (const char* maker : {"gauge", "lattice", "reunitarize", "naik-epsilon", "u0"})
        if (key == maker)
          throw Error(ErrorKind::input, where,
                      fmt::format("{} is for links that are made of a configuration, but --fat and --long give links", key),
                      "leave it out, or leave out --fat and --long");
  }
};

class Hisq : public StaggeredKind {
 public:
  Hisq() : StaggeredKind("hisq", "HISQ", true) { settings.emplace_back("naik-epsilon"); }
  void check(const RunConfig& config) const override {
    StaggeredKind::check(config);
    const StaggeredConfig& staggered = config.staggered;
    if (staggered.naik_epsilon) return smear::check_naik_epsilon(*staggered.naik_epsilon);
    for (const double mass : staggered.masses) smear::naik_epsilon_of_mass(mass);  // throws where the series has no answer
    if (find_krylov_solver(config.solver.solver)->shifted)
      throw Error(ErrorKind::input, "--naik-epsilon", fmt::format("{} needs one operator for all masses", config.solver.solver),
                  "give one epsilon, or use --solver cg");
  }

 protected:
  std::vector<LinkStage> stages() const override {
    return {{{1, 2}, false}, {{2}, true}};  // U and W, and without U once X and N for epsilon 0 are there
  }
  smear::StaggeredLinks links_of(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                                 const StaggeredConfig& settings) const override {
    return smear::hisq_links(decomposition, gauge, boundary, *settings.naik_epsilon);
  }
};

class Asqtad : public StaggeredKind {
 public:
  Asqtad() : StaggeredKind("asqtad", "asqtad", true) { settings.emplace_back("u0"); }
  void check(const RunConfig& config) const override {
    StaggeredKind::check(config);
    if (!config.staggered.from_files() && !config.staggered.u0)
      throw Error(ErrorKind::input, "--u0", "asqtad needs a tadpole factor", "give it, e.g. --u0 0.87, or --u0 1");
  }

 protected:
  std::vector<LinkStage> stages() const override { return {{{2}, true}}; }
  smear::StaggeredLinks links_of(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                                 const StaggeredConfig& settings) const override {
    return smear::asqtad_links(decomposition, gauge, boundary, settings.u0.value_or(1));
  }
};

class Naive : public StaggeredKind {
 public:
  Naive() : StaggeredKind("naive", "naive staggered", false) {}

 protected:
  std::vector<LinkStage> stages() const override { return {{.depths = {}, .stored = true}}; }
  smear::StaggeredLinks links_of(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                                 const StaggeredConfig&) const override {
    return smear::naive_links(decomposition, gauge, boundary);
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

}  // namespace quarkstar::app
