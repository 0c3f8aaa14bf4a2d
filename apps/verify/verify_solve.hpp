#pragma once
#include "apps/run/report.hpp"
#include "apps/verify/verify.hpp"
#include "codelets/gauge/host_gauge.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace quarkstar::app {

/// Coefficients of an action on Wilson's links: with mu twisted mass, else with csw clover, else Wilson.
struct WilsonCase {
  double kappa, csw = 0, mu = 0;
};

/// Source, sinks and correlators of a solve.
struct WantedCorrelators {
  contract::Request request = {};
  Source source = {};
  std::vector<Sink> sinks{Sink{}};
  ThreePointSettings three_points = {};
};
/// Correlators of the action, by default from a point source at the origin, each column solved to a true residual of 1e-14.
std::vector<Correlator> verified_correlators(const HostGauge& gauge, const WilsonCase& action, const BoundaryAngles& boundary,
                                             const VerifyConfig& config, const WantedCorrelators& wanted = {});

/// Relative deviation that a correlator may have.
inline constexpr double correlator_limit = 1e-10;

/// A file of golden numbers; nothing if it is not there. Throws Error(input) if it cannot be parsed.
std::optional<nlohmann::json> read_golden(const std::string& path);

/// Values of the correlator of that name ("pion", "rho_x", ...).
const Correlator& correlator_named(const std::vector<Correlator>& correlators, const std::string& name);

}  // namespace quarkstar::app
