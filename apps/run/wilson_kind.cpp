#include "apps/run/wilson_kind.hpp"

#include "apps/command/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/contract/meson.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

WilsonKind::WilsonKind() {
  name = "wilson";
  title = "Wilson";
  components = spinor_components;
  is_hermitian = false;
  names_masses = false;
  face_reals = 12;  // a half spinor
  flops = 1320;
  link_reals = {18, 12, 8};
  settings = {"kappa", "mass", "normalisation", "schur", "restart", "schwarz-block", "schwarz-steps"};
  bench_links = {18, 12};
  bench_numbers = {1};
  bench_solvers = {"bicgstab", "cgnr"};
}

std::unique_ptr<Action> WilsonKind::action(const HostGauge& gauge, const RunConfig& config) const {
  return std::make_unique<wilson::Action>(gauge, config.wilson);
}

void WilsonKind::check(const RunConfig& config) const {
  if (config.was_given("schwarz-steps") && !config.was_given("schwarz-block"))
    throw Error(ErrorKind::input, "--schwarz-steps", "no domains are given", "give --schwarz-block, e.g. 4,4,4,4");
}

void WilsonKind::add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
                           const RunConfig& config) const {
  MemoryNeed& host = needs.back();
  host.other += host_gauge_bytes(format::box_with_border(decomposition));
  if (!config.solver.schwarz) return;
  double threads = 0;
  for (const int worker : session.cpu_workers()) threads += static_cast<double>(session.worker(worker).team.cores().size());
  host.fields.fields += threads * wilson::schwarz_thread_bytes(config.solver.schwarz->domain);
}

PartBytes WilsonKind::part_bytes(const Coord& lattice, int direction, const RunConfig& config) const {
  const std::vector<int> together = numbers_together(config);
  const double bytes = footprint(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), config.solver, shape(config), together).front().total();
  return {bytes / lattice[static_cast<std::size_t>(direction)], 0};
}

MakeOperator WilsonKind::make_links(runtime::Session&, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                                    RunReport& report) const {
  return [this, &gauge = links(decomposition), &report](std::span<const std::size_t>) {
    const RunConfig& config = report.config;
    RunOperator made;
    made.action = action(gauge, config);
    if (!config.checkpoint.empty()) {
      const GaugeSummary& read = report.gauge;
      made.equation =
          fmt::format("action {} plaquette {:.13e} link trace {:.13e}{} kappa {:.17g} {} boundary {}", name,
                      0.5 * (read.spatial_plaquette + read.temporal_plaquette), read.link_trace, config.reunitarize ? " reunitarized" : "",
                      config.wilson.kappa, config.wilson.normalisation == WilsonParameters::Normalisation::mass ? "mass" : "kappa",
                      text_of(config.wilson.boundary));
      for (const ActionNumber& number : numbers) made.equation += fmt::format(" {} {:.17g}", number.key, this->number(config, number.key));
    }
    return made;
  };
}

RunOperator WilsonKind::with_any_links(HostGauge gauge) const {
  const auto links = std::make_shared<const HostGauge>(std::move(gauge));
  RunOperator made;
  RunConfig config;
  config.action = name;
  made.action = action(*links, config);
  made.links = links;
  return made;
}

std::vector<CorrelatorReport> WilsonKind::contract(const Propagators& propagators, const Source& source, int times) const {
  std::vector<CorrelatorReport> correlators;
  for (const Meson meson : all_mesons)
    correlators.push_back(
        correlator_over_ranks(std::string(name_of(meson)), meson_sums(meson, propagators.front().columns, source.time(), times)));
  return correlators;
}

const ActionKind& wilson_kind() {
  static const WilsonKind kind;
  return kind;
}

}  // namespace quarkstar::app
