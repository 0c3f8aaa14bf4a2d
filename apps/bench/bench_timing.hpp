#pragma once
// How a kernel is timed as a solver runs it: in batches, through the task graph.
#include "runtime/graph/session.hpp"
#include "runtime/observe/hardware_counters.hpp"
#include "runtime/system/huge_pages.hpp"

#include <complex>
#include <functional>
#include <optional>

namespace quarkstar::app {

/// What the runtime makes of one application.
struct RuntimeCost {
  double tasks = 0;    ///< StarPU's: a fused batch of 16 applications of each parity is one, replays of its graph on GPUs included
  double kernels = 0;  ///< packs, interiors and boundaries of all blocks
  double us_per_task =
      0;  ///< wall time of the owners outside StarPU's tasks, per task; gaps between the kernels of a fused task are not in it
};

/// Seconds of one application.
struct PairTiming {
  double best = 0, median = 0;
  RuntimeCost runtime_cost;
  runtime::HardwareCounts counts;  ///< of one application, where counters were given
};

/// submit_pair submits two applications that read every link once, one onto each parity. owners: workers that own blocks.
/// repetitions: timed passes; each is as many applications as fill about a tenth of a second, in batches as a solver submits them.
/// counters: what counts them, or nullptr.
PairTiming time_pairs(runtime::Session& session, int owners, int repetitions, const std::function<void()>& submit_pair,
                      const runtime::HardwareCounters* counters = nullptr);

/// What of the time of some applications is in kernels.
struct KernelShare {
  double kernels = 0;  ///< of one application, as RuntimeCost::kernels
  double share = 0;    ///< of the time from the begin of the first to the end of the last while at least one runs, the mean of the owners
};

/// submit_pair() as above, twice in one batch. On GPUs a replay of the batch's graph with marks around each kernel, which add up to a
/// microsecond to it and as much between two; nothing where kernels send messages, or no replay has had marks. The session's events are
/// empty afterwards.
std::optional<KernelShare> share_in_kernels(runtime::Session& session, int owners, const std::function<void()>& submit_pair);

/// What a kernel does at a site of one parity, all right-hand sides together.
struct KernelBytes {
  double flops = 0;
  double bytes = 0;     ///< compulsory: each link and vector once
  double of_core = 0;   ///< what a core loads and stores: a neighbour's vectors at each site that reads them
  double written = 0;   ///< of the bytes
  double resident = 0;  ///< bytes of the fields that alternating applications go over: links of both parities, and two vectors
};

struct DslashTiming {
  double best_gflops = 0, median_gflops = 0;  ///< flop per site: Wilson 1320; staggered 1146, without long links 570
  double best_gbs = 0;                        ///< compulsory bytes
  RuntimeCost runtime_cost;
  KernelBytes kernel;
  int owners = 1;                         ///< workers that own blocks
  int lanes = 0;                          ///< of the layout
  runtime::HardwareCounts counts_a_site;  ///< of this rank's process and its sites
  runtime::HugePageUse pages;             ///< while the fields were there
};

/// sites: of one parity, of this rank. Call while the fields are there.
DslashTiming dslash_timing(const PairTiming& times, const KernelBytes& kernel, double sites, int owners);

/// Number i of a field to time kernels with. Any non-zero field will do, but zeros would run faster than real data on some machines.
/// The modulus is about 1.
std::complex<double> wavy_number(std::size_t i);

}  // namespace quarkstar::app
