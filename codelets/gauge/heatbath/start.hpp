#pragma once
// Configurations to start a Markov chain from.
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/system/team.hpp"

#include <cstdint>

namespace quarkstar::heatbath {

/// U_mu(x) = 1. Throws Error(input) for an extent below 1.
HostGauge cold_start(const Coord& lattice);

/// Every link of a box of the lattice drawn from the Haar measure: rows of normal numbers, orthonormalised. The same for any team and box.
/// Throws Error(input) for an extent below 1.
HostGauge hot_start(const Coord& lattice, const Box& box, std::uint64_t seed, const runtime::Team& team);
inline HostGauge hot_start(const Coord& lattice, std::uint64_t seed, const runtime::Team& team) {
  return hot_start(lattice, {{}, lattice}, seed, team);
}

}  // namespace quarkstar::heatbath
