#pragma once
// What a user leaves open of multigrid, chosen from the lattice; and what cannot be.
#include "codelets/field/precision.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

namespace quarkstar {

/// The settings with aggregates and number of levels chosen by the lattice alone, so that no bit depends on its cut, where they are left
/// open (0): along each direction the extent among 4, 3, 2, 5, 6, 7 of which the lattice has an even number of aggregates; three levels
/// where two would leave more than 4096 coarse sites and the coarse lattice can be divided again, four likewise. Aggregates of levels below
/// the finest have 2^4 sites. Throws Error(input) naming `aggregate` for a lattice that no aggregates divide.
MultigridSettings completed(MultigridSettings settings, const Coord& lattice);
/// The same of a solver's: multigrid where the solver has it or settings of it are given.
SolverSettings completed(SolverSettings settings, const Coord& lattice);

/// Of the aggregates of a level, of complete settings.
Coord aggregate_of(const MultigridSettings& settings, int level);
/// Of which every block must have a whole number.
Coord whole_unit(const MultigridSettings& settings);

/// Throws Error(input) naming the parameter for complete settings with which there is no multigrid: aggregates or null vectors that do not
/// fit the lattice or its cut, numbers of levels or steps, fields in half precision, the symmetric Schur complement.
void check_multigrid(const MultigridSettings& settings, const runtime::Decomposition& decomposition, Precision precision, Schur schur);

}  // namespace quarkstar
