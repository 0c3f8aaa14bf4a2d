#pragma once
#include "apps/report.hpp"
#include "apps/verify.hpp"
#include "codelets/lattice/host_gauge.hpp"

namespace quarkstar::app {

/// All mesons from a point source at the origin, each column solved to a true residual of 1e-14.
std::vector<CorrelatorReport> verified_correlators(const HostGauge& gauge, const WilsonParameters& wilson,
                                                   const VerifyConfig& config);

/// Values of the correlator of that name ("pion", "rho_x", ...).
const std::vector<double>& correlator_named(const std::vector<CorrelatorReport>& correlators, const std::string& name);

}  // namespace quarkstar::app
