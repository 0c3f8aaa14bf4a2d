#pragma once
// Effective masses of a correlator, in lattice units.
#include <span>
#include <vector>

namespace quarkstar {

/// m(t) = ln[C(t) / C(t+1)], t = 0..T-2: the mass where one state dominates and the lattice's far end is not felt.
/// Not a number where the ratio is not positive.
std::vector<double> log_effective_mass(std::span<const double> correlator);

/// m(t) >= 0 with C(t) / C(t+1) = cosh(m (t - T/2)) / cosh(m (t + 1 - T/2)), t = 0..T-2: both directions of time on a
/// periodic lattice of T slices. Not a number where no such m exists (a ratio below 1 before the middle, above 1 behind
/// it), or where the ratio is fixed by symmetry (t + 1/2 = T/2). Relative accuracy 1e-13, by bisection.
std::vector<double> cosh_effective_mass(std::span<const double> correlator);

}  // namespace quarkstar
