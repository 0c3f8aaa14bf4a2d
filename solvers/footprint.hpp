#pragma once
// How much memory a solve takes, worked out before anything is allocated.
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace quarkstar {

/// Bytes by what they hold.
struct Footprint {
  double links = 0;    ///< of every level, both parities, each link at both of its ends
  double spinors = 0;  ///< or colour vectors: right-hand side, solution, residual, correction and the Krylov solver's
                       ///< vectors at their peak
  double faces = 0;    ///< half spinors or colour vectors between blocks, double-buffered
  double tables = 0;   ///< neighbours and site lists, as tasks see them
  double scalars = 0;  ///< partial sums, states, residual histories
  double total() const { return links + spinors + faces + tables + scalars; }
  Footprint& operator+=(const Footprint& other);
  /// So many solves at once: they share links and tables.
  void multiply_solves(int in_flight);
};

/// What each block (also of other ranks) of a Wilson solve takes where its owner works on it: on the GPU for a GPU's
/// block, in host memory otherwise. Throws Error(input) for an unknown solver. Right to a few percent for blocks of
/// more than a few thousand sites.
std::vector<Footprint> wilson_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings);

/// The same of a staggered solve. hops_far: with long links, of settings.link_reals reals; vectors: the numbers of
/// right-hand sides that are solved together, one after another (at least one number). settings.solver: one of
/// staggered_solver_names(); vectors_in_lanes: StaggeredSpeed's. What making the links takes is not in it.
std::vector<Footprint> staggered_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings, bool hops_far,
                                           std::span<const int> vectors, int vectors_in_lanes = 1);

/// What a block on a GPU takes of host memory besides: the copies from which links, source and tables came, and to
/// which the solution goes. site_reals: of source and solution, all that are solved together.
Footprint host_copies(const Footprint& on_gpu, const runtime::Block& block, int site_reals);

/// Host memory of a rank's part of a propagator besides: the links as they were read, with the layers around the part,
/// `columns` solutions, a source, and the tables once more. links: extents of what was read.
double host_fields_bytes(const Coord& part, const Coord& links, int columns);

}  // namespace quarkstar
