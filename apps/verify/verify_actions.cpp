// A check of every action that there is: gauge transformations leave its correlators alone.
#include "apps/run/gauge_io.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/verify/verify.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/su3/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::app {
namespace {

/// U_mu(x) -> g(x) U_mu(x) g(x + mu)^+ with random g.
HostGauge transformed(const HostGauge& gauge, std::uint64_t seed, const runtime::Team& team) {
  const HostGauge random = heatbath::hot_start(gauge.extents, seed, team);
  HostGauge result = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      Coord next = coordinates(site, gauge.extents);
      const auto i = static_cast<std::size_t>(mu);
      next[i] = (next[i] + 1) % gauge.extents[i];
      const auto g = site::read_link(random.link(site, 0).data()),
                 there = site::read_link(random.link(lexicographic(next, gauge.extents), 0).data());
      site::write_link(result.link(site, mu).data(), multiply_adjoint(multiply(g, site::read_link(gauge.link(site, mu).data())), there));
    }
  return result;
}

/// All correlators of an action's heavy quarks (ActionKind::heavy) from a point source.
std::vector<Correlator> correlators_of(const ActionKind& kind, const HostGauge& gauge, const VerifyConfig& config) {
  RunReport report;
  RunConfig& run = report.config;
  run.action = &kind;
  for (const auto& [key, value] : kind.heavy) set_value(run.settings, *kind.setting(key), value);
  run.session = config.session;
  run.solver.tolerance = 1e-13;
  run.correlators.names.assign(kind.correlators.begin(), kind.correlators.end());
  run.correlators.momenta = {{0, 0, 0}, {1, -1, 0}};
  if (!kind.currents.empty()) {
    for (const contract::Hadron& hadron : contract::hadrons())
      if ((hadron.name == "pion" || hadron.name == "proton_u") &&
          std::find(kind.correlators.begin(), kind.correlators.end(), hadron.family) != kind.correlators.end())
        run.three_points.hadrons.push_back({&hadron, 3, {0, 0, 1}});
    run.three_points.currents.assign(kind.currents.begin(), kind.currents.end());
    run.three_points.momenta = {{1, 0, 0}};
  }
  complete(run);
  solve_source(links_at_hand(gauge), gauge.extents, report, *config.watch);
  return report.correlators;
}

}  // namespace

std::vector<Check> check_gauge_invariance(const VerifyConfig& config) {
  constexpr double limit = 1e-10;  // of the correlator's largest value
  const Coord extents{4, 4, 4, 8};
  const runtime::Team team = host_team();
  const HostGauge gauge = heatbath::hot_start(extents, 1, team), other = transformed(gauge, 2, team);
  std::vector<Check> checks;
  for (const ActionKind* kind : action_kinds()) {
    const std::vector<Correlator> expected = correlators_of(*kind, gauge, config), got = correlators_of(*kind, other, config);
    std::vector<double> before, after;
    for (std::size_t c = 0; c < expected.size(); ++c) {
      double largest = 0;
      for (const std::vector<double>* part : {&expected[c].values, &expected[c].imaginary})
        for (const double value : *part) largest = std::max(largest, std::abs(value));
      for (const auto part : {&Correlator::values, &Correlator::imaginary})
        for (std::size_t t = 0; t < (expected[c].*part).size(); ++t) {
          before.push_back((expected[c].*part)[t] / largest);
          after.push_back((got[c].*part)[t] / largest);
        }
    }
    checks.push_back(
        compare(fmt::format("gauge invariance 4x4x4x8 {} ({} correlators)", kind->name, expected.size()), before, after, limit, false));
  }
  return checks;
}

}  // namespace quarkstar::app
