#pragma once
// Which ranks still answer, asked by a watchdog when nothing happens any more: a collective call that hangs does not say whom it waits for.
#include "runtime/mpi/job.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace quarkstar::runtime::mpi {

/// What a rank says of itself. Words of one message.
struct Answer {
  std::int64_t idle_ms = 0;  ///< since something last completed there
  std::int64_t waits = 0;    ///< 1: for other ranks or for tasks; 0: it works on its own
};

/// Answers the ranks that have asked. For any thread that does not hold the library; to be called now and then by every rank.
void answer_calls(Job& job, const Answer& mine);

/// Answers by rank, one's own among them; none: that rank did not answer within `limit`. Answers others meanwhile.
/// Nothing for a job of one process, and where another thread kept MPI to itself all the time.
std::vector<std::optional<Answer>> ask_ranks(Job& job, std::chrono::seconds limit, const Answer& mine);

}  // namespace quarkstar::runtime::mpi
