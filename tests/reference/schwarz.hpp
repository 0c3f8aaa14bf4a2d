#pragma once
// The additive Schwarz preconditioner of the even-odd Wilson system as plain whole-lattice operations, one domain after the other.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/lattice.hpp"

namespace quarkstar::reference {

/// The links with those set to zero that lead from one rectangle of `domain` sites, counted from the origin, to another, or around the
/// lattice: H of these is H without the hops that leave a domain.
HostGauge dirichlet_links(const HostGauge& gauge, const Coord& domain);

/// K b on the odd sites: z = sum over domains of z_D, each from `steps` steps of minimal residual on A z_D = b restricted to D, from zero,
/// A = diagonal + scale H_oe H_eo with H of dirichlet_links().
Field schwarz(const HostGauge& gauge, const Field& b, const Coord& domain, int steps, double diagonal, double scale,
              const Boundary& boundary = {});

}  // namespace quarkstar::reference
