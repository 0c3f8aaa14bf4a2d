#pragma once
// Smeared quark fields and APE-smeared links (docs/conventions.md, section 12), site by site.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"

namespace quarkstar::reference {

/// [1 + weight Lap]^steps psi, Lap = sum over x, y, z of (forward + backward hop) - 6.
Field smeared(const HostGauge& gauge, const Field& psi, double weight, int steps);

/// steps of U <- Proj[(1 - alpha) U + alpha / 4 sum of the spatial staples] for links in space. Proj: uphill from U along the gradient of
/// Re tr(X^+ V) over SU(3), until it vanishes: for links with one maximum near.
HostGauge ape_smeared(HostGauge gauge, double alpha, int steps);

}  // namespace quarkstar::reference
