#pragma once
// Which ranks still answer, asked by a watchdog when nothing happens any more: a collective call that hangs does not say whom it waits for.
#include "runtime/mpi/job.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace quarkstar::runtime::mpi {

/// What a rank says of itself. Words of one message.
struct Answer {
  std::int64_t idle_ms = 0;  ///< since something last completed there
  std::int64_t waits = 0;    ///< 1: for other ranks or for tasks; 0: it works on its own
};

/// What the root has heard from all ranks, itself among them. Words of one message.
struct RollCall {
  static constexpr std::size_t most_named = 4;
  std::int64_t idle_ms = 0;  ///< the shortest of those that answered
  std::int64_t silent = 0;   ///< how many did not answer within the limit
  std::array<std::int64_t, most_named> first_silent{};
  std::int64_t alone = -1;  ///< the first that works on its own; -1: none
};

/// Answers who has asked. For any thread that does not hold the library; to be called now and then by every rank.
void answer_calls(Job& job, const Answer& mine);

/// On the root: whether ranks wait for a roll call.
bool is_roll_call_wanted(Job& job);

/// The root asks all ranks, and tells those that have asked it; the others ask the root alone, so that a job of N ranks that all wait sends
/// some 5 N messages. limit: for one answer. Answers others meanwhile. A root that does not answer is the one silent rank.
/// Nothing for a job of one process, and where another thread kept MPI to itself all the time.
std::optional<RollCall> call_roll(Job& job, std::chrono::seconds limit, const Answer& mine);

}  // namespace quarkstar::runtime::mpi
