#pragma once
// How a kernel is timed as a solver runs it: in batches, through the task graph.
#include "runtime/session.hpp"

#include <complex>
#include <functional>

namespace quarkstar::app {

/// Seconds of one application, and time outside of kernels.
struct PairTiming {
  double best = 0, median = 0;
  double microseconds_per_task = 0;  ///< wall time of the owners outside the kernels, a task
  double tasks_per_application = 0;  ///< packs, interiors and boundaries of all blocks
};

/// submit_pair submits two applications that read every link once, one onto each parity. owners: workers that own blocks.
/// repetitions: timed passes; each is as many applications as fill about a tenth of a second.
PairTiming time_pairs(runtime::Session& session, int owners, int repetitions, const std::function<void()>& submit_pair);

struct DslashTiming {
  double best_gflops = 0, median_gflops = 0;  ///< flop a site: Wilson 1320; staggered 1146, without long links 570
  double best_gbs = 0;                        ///< compulsory bytes
  double microseconds_per_task = 0, tasks_per_application = 0;  ///< as PairTiming
};

/// Number i of a field to time kernels with. Any non-zero field will do, but zeros would run faster than real data on some machines.
/// The modulus is about 1.
std::complex<double> wavy_number(std::size_t i);

}  // namespace quarkstar::app
