#pragma once
// Settings of the hopping term that change its speed and no bit of its results.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/field/precision.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/tune/tune_cache.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::wilson {

struct HoppingTuning {
  Coord tile{};                                       ///< wanted extents of a tile of outer sites (BlockShape::set_tile); 0: no limit
  int block_threads = 0;                              ///< of a GPU kernel (Hopping::set_block_threads); 0: its own choice
  arch::MemoryAccess memory = default_memory_access;  ///< of CPU kernels (Hopping::set_memory_access)
  friend bool operator==(const HoppingTuning&, const HoppingTuning&) = default;
};

/// What a choice is made for.
struct TuningProblem {
  runtime::Decomposition decomposition;
  Precision precision;
  int link_reals;
  double resident = 0;  ///< bytes a site that the owners of the blocks hold already, such as links_bytes_a_site() of another level
  std::optional<double> cached{};  ///< CPU owners of no more bytes of links and fields take default_tuning(); none: tuning::cached_bytes()
};

/// Links are stored at both of their ends: eight a site.
constexpr double links_bytes_a_site(Precision precision, int link_reals) {
  return 8.0 * static_cast<double>(link_bytes(precision, link_reals));
}

/// Without a measurement: on GPUs tiles of 8 in z and t where a t slice of a block's outer lattice has 10000 sites or more, so that
/// neighbours in z and t would have left the cache (48^4 on one H200: 6 to 8 % faster; 32^4: slower; docs/results); on CPUs none, and
/// default_memory_access.
HoppingTuning default_tuning(const TuningProblem& problem);

/// Times the hopping term with a few tiles, then on GPUs with a few sizes of thread blocks, on CPUs with and without prefetch and streaming
/// stores, on the session's workers; keeps what is at least 1 % faster than the default, on CPUs 3 %. Nothing else should run. Costs up to
/// some ten thousand applications on a small lattice, and the memory of measurement_bytes(). microseconds: of one application with the
/// result.
HoppingTuning measure_tuning(const TuningProblem& problem, double& microseconds);

/// Bytes on each of this rank's owners of blocks, by worker, while measure_tuning() runs: links and two spinors of its own, and what is
/// resident. Without faces and tables, which are a few percent.
std::map<int, double> measurement_bytes(const TuningProblem& problem);

/// Names everything that a choice depends on: device, kernel and its version, precision, link format, lattice, blocks
/// and lanes, how many GPUs and CPU workers of the session own the blocks, and whether batches go task by task
/// (tuning::place_of()).
std::string tuning_key(const TuningProblem& problem, const std::string& device);

/// What a solve should use. measure: the user's tune cache answers, or a measurement that goes there under tuning_key(). On CPUs it is
/// taken on tuning::measured_part(), only for links and fields of this level beyond the caches (tuning::is_cpus_memory()), and only by a
/// rank that has its host to itself (tuning::shares_host()). Else, and where there is no room for a measurement: default_tuning(). Where
/// other ranks have parts of the lattice all must call: the lowest rank of each kind of GPU and, without one, of CPU, finds the settings
/// for its own part, alone, and the ranks of that kind take them, but for the order of sites: all take that of the lowest rank with a GPU.
/// cache: nullptr for the user's, which is not even read where nothing is measured.
HoppingTuning tuning_for(const TuningProblem& problem, bool measure, runtime::TuneCache* cache = nullptr);

/// What an entry of a tune cache holds of a choice: tile, threads of a GPU block, prefetch (0 or 1), 1 for streaming stores.
std::vector<int> numbers_of(const HoppingTuning& tuning);
/// What an entry of a tune cache says; nothing where its numbers are none that a kernel could run with.
std::optional<HoppingTuning> tuning_from(const std::vector<int>& choice);

}  // namespace quarkstar::wilson
