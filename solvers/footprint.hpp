#pragma once
// How much memory a solve takes, worked out before anything is allocated.
#include "codelets/actions/action_kind.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace quarkstar {

/// Bytes by what they hold.
struct Footprint {
  double links = 0;    ///< of every precision, both parities, each link at both of its ends
  double fields = 0;   ///< right-hand sides, solutions, residuals, corrections and the Krylov solver's vectors at their peak
  double faces = 0;    ///< half spinors or colour vectors between blocks, double-buffered
  double tables = 0;   ///< neighbours and site lists, as tasks see them
  double scalars = 0;  ///< partial sums, states, residual histories
  double total() const { return links + fields + faces + tables + scalars; }
  Footprint& operator+=(const Footprint& other);
  /// So many solves at once: they share links and tables.
  void multiply_solves(int in_flight);
};

/// What of an action decides how much memory a solve takes.
struct OperatorShape {
  int components;  ///< of its vectors
  FaceFormat face;
  int reach = 1;                     ///< of the longest hop
  int slices = 1;                    ///< spinors of a right-hand side on a site
  int images = 1;                    ///< fields of one parity and vector that the even-odd system keeps
  double outer_links;                ///< bytes per site in double precision
  double inner_links = 0;            ///< and of the Krylov solver's, where it is another
  bool one_layout = false;           ///< both are in double precision, on one layout
  bool normal_on_all_sites = false;  ///< PreparedAction::normal_keeps_parity() is false
  int operators = 1;                 ///< in flight together, each of one mass: each has a multigrid of its own
};
/// What making the links takes is not in it.
OperatorShape operator_shape(const ActionKind& kind, const SettingValues& values, const SolverSettings& settings);

/// What each block (also of other ranks) of a solve takes where its owner works on it: on the GPU for a GPU's block, in host memory
/// otherwise. vectors: how many right-hand sides each solve has, of solves that follow each other (at least one). vectors_in_lanes:
/// Speed's. Throws Error(input) for an unknown solver. Right to a few percent for blocks of more than a few thousand sites.
std::vector<Footprint> footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings, const OperatorShape& shape,
                                 std::span<const int> vectors, int vectors_in_lanes = 1);

/// Bytes of the faces that a hopping operator in double precision for so many vectors has on a block.
double face_bytes(const runtime::Decomposition& decomposition, const runtime::Block& block, const OperatorShape& shape, int vectors);

/// What every rank's host takes besides while solves are set up: multigrid's matrix for the inverse of its coarsest level.
double host_bytes_of_setup(const runtime::Decomposition& decomposition, const SolverSettings& settings);

/// What a block on a GPU takes of host memory besides: the copies from which links, source and tables came, and to which the solution goes.
/// site_reals: of source and solution, all that are solved together.
Footprint host_copies(const Footprint& on_gpu, const runtime::Block& block, int site_reals);

}  // namespace quarkstar
