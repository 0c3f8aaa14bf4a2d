#pragma once
// What a user leaves open of multigrid, chosen from the lattice; and what cannot be.
#include "codelets/field/precision.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

namespace quarkstar {

/// The settings with aggregates and number of levels chosen by the lattice alone, so that no bit depends on its cut, where they are left
/// open (0): along each direction the extent among 4, 3, 2, 5, 6, 7 of which the lattice has an even number of aggregates; two levels, and
/// up to four while the coarsest lattice is too large for a dense inverse and can be divided again: without an inverse solves stall near
/// the critical mass (docs/results/2026-12-01-multigrid-2.md). Throws Error(input) naming `aggregate` for a lattice that no aggregates
/// divide.
MultigridSettings completed(MultigridSettings settings, const Coord& lattice);
/// The same of a solver's: multigrid where the solver has it or settings of it are given.
SolverSettings completed(SolverSettings settings, const Coord& lattice);

/// Of the aggregates of a level, of complete settings: below the finest the first of 2, 3, 5, 7 sites of which there is an even number
/// along a direction, else 3. Where these leave no dense inverse, and there cannot be a further level, it is the first of 4, 5, 6, 7, 3, 2
/// sites on the first level below the finest, on the second too only if nothing else leaves one
/// (docs/results/2026-12-01-multigrid-2.md).
Coord aggregate_of(const MultigridSettings& settings, const Coord& lattice, int level);
/// The degree of a level's smoother: below the finest half, for an application costs as much there and saves fewer iterations.
int smoother_degree(const MultigridSettings& settings, int level);
/// The lattice of the coarsest level.
Coord coarsest_lattice(const MultigridSettings& settings, const Coord& lattice);
/// Whether the coarsest level is solved by its inverse (coarse::DenseInverse).
bool has_dense_inverse(const MultigridSettings& settings, const Coord& lattice);
/// Of which every block has a whole number where all levels are cut as the lattice is.
Coord whole_unit(const MultigridSettings& settings, const Coord& lattice);
/// Of which every block must have a whole number: levels of few sites may be whole on every rank.
Coord least_unit(const MultigridSettings& settings, const Coord& lattice);
/// The first level that is whole on every rank (coarse::NextLevel), as those below it are: one whose blocks would have no whole aggregates,
/// if it has few sites. The number of levels where there is none. No bit depends on it.
int first_whole_level(const MultigridSettings& settings, const runtime::Decomposition& decomposition);

/// Throws Error(input) naming the parameter for settings with which there is no multigrid on any lattice: numbers of null vectors, levels
/// or steps, fields in half precision, the symmetric Schur complement. Aggregates and levels may be left open.
void check_multigrid(const MultigridSettings& settings, Precision precision, Schur schur);
/// The same, and for aggregates, null vectors or levels that do not fit the lattice. Needs no more than its extents, so that nothing has
/// been read or allocated for settings that are refused.
void check_multigrid(const MultigridSettings& settings, const Coord& lattice, Precision precision, Schur schur);
/// The same of complete settings, and for aggregates that do not fit the lattice's cut.
void check_multigrid(const MultigridSettings& settings, const runtime::Decomposition& decomposition, Precision precision, Schur schur);
/// The same of a solver's: multigrid where the solver has it or settings of it are given, else nothing is refused.
void check_multigrid(const SolverSettings& settings, const Coord& lattice);
void check_multigrid(const SolverSettings& settings, const runtime::Decomposition& decomposition);

}  // namespace quarkstar
