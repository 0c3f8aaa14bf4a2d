#pragma once
// Which part of the lattice each rank of a job gets, and which of its workers own the blocks of that part.
#include "apps/run/device_plan.hpp"
#include "runtime/mpi/rank_grid.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Stand-alone speed of one of this rank's workers on a lattice like `part`, GFLOP/s. Without collective calls.
using MeasureOnPart = std::function<double(int worker, const Coord& part)>;

/// Workers of a rank that can own blocks.
struct RankOwners {
  int gpus = 0, cpus = 0;
};

/// Blocks of a slab of t, which all ranks of the slab have in common: those of GPUs first, then those of CPUs beside them.
struct SlabBlocks {
  std::vector<int> extents;
  int on_gpus = 0;  ///< how many come before those that are the CPUs' own; 0: all workers own all
  /// Who owns the number-th of them on a rank.
  int worker_of(int number, const RankOwners& rank) const;
};

/// `wanted` nearly equal parts of an extent, fewer where they would be thinner than `thick`, one at least.
std::vector<int> parts_up_to(int extent, int wanted, int thick, int thinnest, int multiple);

/// A slab of t for the workers of its ranks: as many blocks as the rank with most owners has. GPUs own everything where a rank has any, but
/// for the part `cpu_share` of the layers, to a tenth of it where they allow; then the blocks are cut for the owners of the slab's first
/// rank with GPUs. thick: least extent of several blocks, otherwise limits.thinnest counts. Throws Error(input) naming --cpu-share where
/// the slab cannot be cut in two.
SlabBlocks blocks_of_slab(int extent, const std::vector<RankOwners>& ranks, double cpu_share, int thick,
                          const runtime::mpi::PartLimits& limits);

/// A configuration over the ranks of the job, each with one block of one worker, or on one rank the whole lattice. ranks: the grid wanted.
/// Collective. Throws Error(input) naming ranks where it is meant for another number of ranks, or where parts would be thinner.
runtime::Decomposition parts_of_links(const Coord& lattice, const std::optional<Coord>& ranks, int thinnest = 1);

/// The same parts in blocks for this rank's `workers`. blocks: as many in all, zeros: t cut by the number of workers. Collective. Also
/// throws Error(input) naming blocks.
runtime::Decomposition blocks_of_links(const Coord& lattice, const std::optional<Coord>& ranks, const Coord& blocks, int workers,
                                       int thinnest = 1);

/// Throws Error(input) naming --ranks or --rank-weights where they are meant for another number of ranks than `size`.
void require_ranks(const std::optional<Coord>& ranks, const RankWeights& weights, int size);

/// The lattice over the ranks of the job: grid and slabs as mpi::make_rank_grid() finds them for the ranks' weights (config.rank_weights),
/// blocks of each slab as blocks_of_slab(), or config.blocks. Speeds of ranks are those of their owners together, measured at the same time
/// on all ranks. All ranks must call. Throws Error(input) naming --ranks, --rank-weights, --blocks or --cpu-share, on all ranks alike.
PlannedLattice plan_over_ranks(runtime::Session& session, const Coord& extents, const RunConfig& config, const MeasureOnPart& measure);

}  // namespace quarkstar::app
