#pragma once
#include "runtime/cut/coord.hpp"
#include "solvers/settings.hpp"

#include <vector>

namespace quarkstar::app {

/// Pion correlator of free Wilson quarks (unit links, kappa normalisation) from a point source, by summing over
/// momenta: C(t) = 3/V3 sum_p |S(t,p)|^2, S(t,p) = 1/T sum_{p_t} e^{i p_t t} (M - i g.s) / (M^2 + s^2), M = 1 - 2 kappa
/// sum cos p_mu, s_mu = 2 kappa sin p_mu, p_mu = (2 pi n_mu + pi theta_mu) / L_mu. t = 0..T-1 from the source. Cost: V
/// T evaluations; for small lattices. Throws nothing. Source: Fourier transform of M; docs/conventions.md, section 11.
std::vector<double> free_pion(const Coord& extents, double kappa, const BoundaryAngles& boundary);

}  // namespace quarkstar::app
