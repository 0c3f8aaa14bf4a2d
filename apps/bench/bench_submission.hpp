#pragma once
// What one rank of a large job pays to submit an iteration, whatever its kernels cost.
#include "runtime/cut/coord.hpp"

namespace quarkstar::app {

struct SubmissionTiming {
  /// Wall time of one BiCGStab iteration; in a simulation the simulated time.
  double microseconds = 0;
  /// Of a simulation: processor time of this process in one iteration of all ranks.
  double real_microseconds = 0;
  double tasks = 0, messages = 0, sums = 0;  ///< of this rank in one iteration
  double set_up_seconds = 0;                 ///< decomposition, geometry, links
};

/// Runs the even-odd BiCGStab of a Wilson solve as the current job's rank, on `part` sites per rank. Meant for a job that
/// does not exist (STARPU_MPI_FAKE_SIZE, STARPU_MPI_FAKE_RANK) and kernels that do nothing (STARPU_DISABLE_KERNELS=1),
/// or a simulated one, where kernels take no real time. Needs a running session.
SubmissionTiming time_submission(const Coord& part, int batches);

}  // namespace quarkstar::app
