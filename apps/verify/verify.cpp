#include "apps/verify/verify.hpp"

#include "apps/run/free_field.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/verify/verify_solve.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quarkstar::app {

Check compare(const std::string& name, const std::vector<double>& expected, const std::vector<double>& got, double limit, bool relative) {
  Check check{.name = name, .deviation = -1, .limit = limit, .note = {}};
  if (expected.size() != got.size() || expected.empty()) {
    check.verdict = Check::Verdict::fail;
    check.deviation = std::numeric_limits<double>::infinity();
    check.note = fmt::format("{} values instead of {}", got.size(), expected.size());
    return check;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double deviation = std::abs(got[i] - expected[i]) / (relative ? std::abs(expected[i]) : 1.0);
    if (deviation <= check.deviation) continue;  // a deviation that is no number counts as the largest
    check.expected = expected[i];
    check.got = got[i];
    check.deviation = deviation;
    check.note = fmt::format("at {}", i);
    if (std::isnan(deviation)) break;
  }
  check.verdict = check.deviation <= limit ? Check::Verdict::pass : Check::Verdict::fail;
  return check;
}

Check skipped(const std::string& name, const std::string& reason) {
  return {.name = name, .verdict = Check::Verdict::skipped, .note = reason};
}

std::vector<Correlator> verified_correlators(const HostGauge& gauge, const WilsonCase& action, const BoundaryAngles& boundary,
                                             const VerifyConfig& config, const WantedCorrelators& wanted) {
  RunReport report;
  report.config.action = action.mu != 0 ? &twisted_mass_kind() : action.csw != 0 ? &clover_kind() : &wilson_kind();
  for (const auto& [key, value] : {std::pair{"kappa", action.kappa}, {"csw", action.csw}})
    if (report.config.action->setting(key) != nullptr) report.config.settings[key] = value;
  if (action.mu != 0) report.config.settings["mu"] = std::vector{action.mu};
  report.config.boundary = boundary;
  report.config.session = config.session;
  report.config.solver.tolerance = 1e-14;
  report.config.correlators = wanted.request;
  report.config.source = wanted.source;
  report.config.sinks = wanted.sinks;
  report.config.three_points = wanted.three_points;
  complete(report.config);
  solve_source(links_at_hand(gauge), gauge.extents, report, *config.watch);
  return report.correlators;
}

const Correlator& correlator_named(const std::vector<Correlator>& correlators, const std::string& name) {
  const auto found = std::find_if(correlators.begin(), correlators.end(), [&](const Correlator& c) { return c.name == name; });
  if (found == correlators.end()) throw Error(ErrorKind::internal, "verify", fmt::format("no correlator '{}'", name), "this is a defect");
  return *found;
}

std::vector<Check> check_free_field(const VerifyConfig& config) {
  constexpr double limit = 1e-12;
  struct Pinned {
    const char* name;
    BoundaryAngles boundary;
    std::vector<double> first;  ///< t = 0..4; symmetric in time
  };
  // Computed once with an independent program in double precision (docs/conventions.md, section 11).
  const std::vector<Pinned> pinned{
      {"antiperiodic",
       antiperiodic_in_time,
       {14.390997238335325, 1.195789163128004, 0.556763335147175, 0.444389305141630, 0.419424218593000}},
      {"periodic", periodic, {17.724243454974850, 2.611118374457587, 1.716801739632373, 1.460574662091269, 1.389152014535650}}};
  std::vector<Check> checks;
  const HostGauge unit = heatbath::cold_start({4, 4, 4, 8});
  for (const Pinned& p : pinned) {
    std::vector<double> expected = p.first;
    expected.insert(expected.end(), p.first.rbegin() + 1, p.first.rend() - 1);
    const auto solved = verified_correlators(unit, {0.12}, p.boundary, config);
    const std::string name = fmt::format("free pion 4x4x4x8 k 0.12 {}", p.name);
    checks.push_back(compare(name, expected, correlator_named(solved, "pion").values, limit, true));
    checks.push_back(compare(name + ", sum over p", expected, free_pion(unit.extents, 0.12, p.boundary), limit, true));
  }
  const BoundaryAngles twisted{0.25, 0, 0.5, 1};
  const HostGauge box = heatbath::cold_start({4, 6, 2, 8});
  const auto solved = verified_correlators(box, {0.11}, twisted, config);
  checks.push_back(compare("free pion 4x6x2x8 k 0.11 twisted x, z", free_pion(box.extents, 0.11, twisted),
                           correlator_named(solved, "pion").values, limit, true));
  return checks;
}

}  // namespace quarkstar::app
