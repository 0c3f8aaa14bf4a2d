#pragma once
// What the measurements of speed settings share: whose settings they are, links of any value, timed batches.
#include "codelets/arch/memory_access.hpp"
#include "codelets/field/link_field.hpp"
#include "codelets/stencil/stencil.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/mpi/job.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::tuning {

bool is_gpu(int worker);

/// Where this rank's settings are looked up.
const runtime::Block& first_block(const runtime::Decomposition& decomposition);

/// What the driver calls the GPU that owns the first block.
std::string device_of(const runtime::Decomposition& decomposition);

/// Of this rank's blocks, by worker.
std::map<int, double> sites_by_owner(const runtime::Decomposition& decomposition);

/// Whether every GPU can take so many bytes; a tenth is left for faces, tables and what a level has besides links.
bool gpus_hold(const std::map<int, double>& bytes_by_worker);

/// The part of a key that names lattice, blocks, lanes, how many GPUs and CPU workers of the session own them, and
/// whether batches go task by task because other ranks take part and messages pass through the host.
std::string place_of(const runtime::Decomposition& decomposition, int lanes);

/// "prefetch, streaming stores"
std::string describe(const arch::MemoryAccess& memory);

/// Links of any value: their speed does not depend on it. Frozen.
LinkField& fill(LinkField& links);

/// An operator on links of any value that it owns: `Links` of both parities, filled by fill().
template <class Operator, class Links>
std::shared_ptr<stencil::Stencil> on_links_of_its_own(const LatticePointer& lattice, int reals, int vectors) {
  struct Owned {
    Links even, odd;
    Operator of_links;
    Owned(const LatticePointer& on, int link_reals, int n)
        : even(on, 0, link_reals), odd(on, 1, link_reals), of_links(fill(even), fill(odd), n) {}
  };
  const auto owned = std::make_shared<Owned>(lattice, reals, vectors);
  return {owned, &owned->of_links};
}

/// What CPUs call themselves in keys: processor, instructions, threads of a worker.
std::string cpu_of_session();

/// Bytes of its fields that each CPU worker's caches may keep from one application to the next: its part of those that hwloc shows
/// (Topology::cache_bytes()), else the usual ones. On virtual machines hwloc may show the host's.
double cached_bytes();
inline constexpr double usual_cached_bytes = 160.0 * (1 << 20);

/// Whether CPUs own all of this rank's blocks, with more than `cached` bytes in one owner's hands. Only then is there something to find:
/// how fields come from memory.
bool is_cpus_memory(const std::map<int, double>& bytes_by_worker, double cached);

/// Whether other ranks are on this one's host. Its CPUs then share memory and caches with theirs, and what one measures alone is not what
/// all have in a solve.
bool shares_host();

/// Whether the host can take what its CPUs own of so many bytes; half of what it has is left for what comes after.
bool host_holds(const std::map<int, double>& bytes_by_worker);

/// Where CPUs measure: this rank's part of a lattice (part_alone()), with t, then z, y, x of all blocks halved until it has no more than
/// `most_sites`, as far as blocks keep extents of whole multiples of twice the unit that hops of `reach` sites let choose_lane_grid()
/// split: lanes, and with them the kernel, are those of the whole. So lattices of one shape share what is measured, and a measurement takes
/// seconds on any. reach, unit: those of the layout.
runtime::Decomposition measured_part(const runtime::Decomposition& decomposition, double most_sites, int reach,
                                     const Coord& unit = {2, 2, 2, 2});

/// `most_sites` with which that part, too, is beyond the caches: its owners keep between one and two times `cached` bytes in the mean,
/// where extents can be halved so far. bytes_by_owner: of the whole.
double sites_beyond(double cached, const std::map<int, double>& bytes_by_owner, const runtime::Decomposition& decomposition);

/// Microseconds of one application, the best of a few passes in batches; submit_pair submits two. Nothing else should run. A GPU is kept
/// busy for 50 ms before each measurement (on_gpus): from rest its clocks take as long, and what was timed first would seem slow.
double microseconds_of(const std::function<void()>& submit_pair, bool on_gpus);

/// This rank's part as a lattice of its own: what a rank can measure while the others do something else.
runtime::Decomposition part_alone(const runtime::Decomposition& decomposition);

/// Which ranks find settings by measurement.
struct Deciders {
  int for_all = 0;   ///< what all ranks must agree on: the lowest rank whose first block is a GPU's, or rank 0 where there is none
  int for_kind = 0;  ///< what each kind of device may have for itself: the lowest rank with the GPU that this one has, or without one with
                     ///< its CPU, as cpu_of_session() names it
  /// Whether this rank is one of them.
  bool is_one(int rank) const { return rank == for_all || rank == for_kind; }
};
/// kinds: of each rank, "GPU " or "CPU " and what that calls itself.
Deciders deciders_among(const std::vector<std::string>& kinds, int rank);
/// All ranks must call.
Deciders deciders_of(const runtime::Decomposition& decomposition);

/// mine of each rank, by rank. decide: what fails on one rank fails on all. All must call.
template <std::size_t N>
std::vector<std::array<int, N>> of_all_ranks(const std::function<std::array<int, N>()>& decide) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::array<int, N> mine{};
  job.together([&] { mine = decide(); });
  return job.gather(mine);
}

/// The wanted extents of tiles that are tried, no limits first.
inline constexpr Coord no_tile{}, tile_zt8{0, 0, 8, 8};
inline constexpr Coord tried_tiles[] = {no_tile, tile_zt8, {0, 0, 4, 4}, {0, 6, 6, 6}, {0, 0, 0, 4}};
/// On GPUs with vectors in lanes: columns along t, through which the blocks of a kernel march.
inline constexpr Coord column_4x4x4{4, 4, 4, 0}, column_4x4x2{4, 4, 2, 0};
inline constexpr Coord tried_columns[] = {column_4x4x4, column_4x4x2, {8, 4, 2, 0}};

/// Another choice must be so much faster than the one that is kept; on CPUs less is noise.
inline constexpr double worthwhile_on_gpus = 0.99, worthwhile_on_cpus = 0.97;

}  // namespace quarkstar::tuning
