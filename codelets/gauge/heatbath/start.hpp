#pragma once
// Configurations to start a Markov chain from.
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/system/team.hpp"

#include <cstdint>

namespace quarkstar::heatbath {

/// U_mu(x) = 1. Throws Error(input) for an extent below 1.
HostGauge cold_start(const Coord& lattice);

/// Every link drawn from the Haar measure: rows of normal numbers, orthonormalised. The same for any team.
/// Throws Error(input) for an extent below 1.
HostGauge hot_start(const Coord& lattice, std::uint64_t seed, const runtime::Team& team);

}  // namespace quarkstar::heatbath
