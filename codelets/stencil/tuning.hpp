#pragma once
// Settings of hopping operators that change their speed and no bit of their results: the order of sites, and how kernels are launched.
#include "codelets/lattice/lane_grid.hpp"
#include "codelets/stencil/stencil.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/tune/tune_cache.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::stencil {

/// An operator whose settings are looked for.
struct Subject {
  std::string name;  ///< in keys: the kernel, its version, and the form of its links
  Precision precision;
  BoundaryAngles boundary;
  LayoutRequest layout;  ///< but for the tile
  int components;        ///< of its vectors
  double link_bytes;     ///< per site
  /// The operator on a lattice, with links of any value, which it owns.
  std::function<std::shared_ptr<Stencil>(const LatticePointer& lattice, int vectors)> make;
  /// Without a measurement.
  std::function<Coord(const runtime::Decomposition&, int vectors_in_lanes)> usual_tile;
  std::function<Launch(int vectors)> usual_launch;
  /// Threads of a GPU block at most, where threads take so many vectors (0: any number).
  std::function<int(int vectors_a_thread)> most_block_threads;
};

/// What a choice is made for.
struct TuningProblem {
  runtime::Decomposition decomposition;
  Subject subject;
  int vectors = 1;
  double resident = 0;             ///< bytes per site that the owners of the blocks hold already, such as the links of another level
  std::optional<double> cached{};  ///< CPU owners of no more bytes of links and fields take the rules; none: tuning::cached_bytes()
};

/// Bytes on each of this rank's owners of blocks, by worker, while a measurement runs: links and two fields of both parities, and what is
/// resident. Without faces and tables, which are a few percent.
std::map<int, double> measurement_bytes(const TuningProblem& problem);

/// Each names everything that its choice depends on: device, kernel and its version, precision, links, right-hand
/// sides and whether they are in lanes, lattice, blocks and lanes, how many GPUs and CPU workers own the blocks, whether
/// batches go task by task; a launch also the order of sites.
std::string tile_key(const TuningProblem& problem, const std::string& device);
std::string launch_key(const TuningProblem& problem, const Coord& tile, const std::string& device);

/// Times the operator in a few orders of sites (wanted extents of a tile of outer sites, BlockShape::set_tile), or with a few launches in
/// one order (on GPUs threads of a block and right-hand sides of a thread, on CPUs prefetch and stores); keeps what is at least 1 % faster
/// than the rule, on CPUs 3 %. On the session's workers, with nothing else running, in the memory of measurement_bytes(). microseconds: of
/// one application with the result.
Coord measure_tile(const TuningProblem& problem, double& microseconds);
Launch measure_launch(const TuningProblem& problem, const Coord& tile, double& microseconds);

/// Microseconds of one application by the rules, measured as above.
double application_microseconds(const TuningProblem& problem);

/// What a solve should use: all fields of a level share one order of sites, and each number of right-hand sides has a launch of its own.
/// measure: the tune cache answers, else a measurement whose result is kept there. On CPUs tuning::measured_part() is measured, only where
/// links and fields of this level are larger than the caches (tuning::is_cpus_memory()), and only by a rank that has its host to itself.
/// Without measure, and where there is no room for a measurement, the rules.
/// Where other ranks have parts of the lattice all must call. The order of sites: the lowest rank with a GPU (rank 0 where there is none)
/// finds it for its own part, alone, and all ranks take it. The launch: the lowest rank of each kind of GPU finds it for that kind; of
/// ranks without a GPU the lowest of each kind of CPU.
/// cache: nullptr for the user's, which is not even read where nothing is measured.
Coord tile_for(const TuningProblem& problem, bool measure, runtime::TuneCache* cache = nullptr);
Launch launch_for(const TuningProblem& problem, const Coord& tile, bool measure, runtime::TuneCache* cache = nullptr);

/// What entries of a tune cache say; nothing where their numbers are none that a kernel could run with.
std::optional<Coord> tile_from(const std::vector<int>& choice);
std::optional<Launch> launch_from(const std::vector<int>& choice);
/// What an entry holds of a launch: threads of a GPU block, vectors of a thread, prefetch (0 or 1), 1 for streaming stores.
std::vector<int> numbers_of(const Launch& launch);

}  // namespace quarkstar::stencil
