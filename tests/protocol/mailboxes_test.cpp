// Mailboxes between GPUs that reach each other's memory (runtime/gpu/gpu_messages.hpp): writers wait for room, readers for messages, both
// by numbers that the other end sets. No face is lost, overwritten or read too early, and no ranks wait for each other for ever.
#include "tests/protocol/explorer.hpp"

#include <doctest/doctest.h>

using namespace quarkstar::protocol;

namespace {

struct Ring {
  int ranks, iterations, buffers = 2;
  bool waits_for_room = true, packs_first = true;
};

/// Ranks in a ring, each of which sends its face to both neighbours in each iteration, in one of the buffers in turn, then reads theirs.
std::vector<Process> ring(const Ring& r) {
  // Of a mailbox: the message, how many have arrived, and how many were consumed.
  const auto mailbox = [&r](int reader, int direction, int buffer) {
    return static_cast<std::size_t>(3 * ((reader * 2 + direction) * r.buffers + buffer));
  };
  std::vector<Process> processes;
  for (int rank = 0; rank < r.ranks; ++rank) {
    Process& gpu = processes.emplace_back();
    gpu.name = "rank " + std::to_string(rank);
    for (int i = 0; i < r.iterations; ++i) {
      const int buffer = i % r.buffers, before = i / r.buffers;
      const auto message = static_cast<std::uint8_t>(i + 1);
      const auto pack = [&] {
        for (const int direction : {0, 1}) {
          const int reader = (rank + (direction == 0 ? 1 : r.ranks - 1)) % r.ranks;
          const std::size_t box = mailbox(reader, direction, buffer);
          if (r.waits_for_room) add_wait(gpu, "room", box + 2, before);
          add_write(gpu, "a face", box, message, [box](State& s) { ++s[box + 1]; });
        }
      };
      const auto read = [&] {
        for (const int direction : {0, 1}) {
          const std::size_t box = mailbox(rank, direction, buffer);
          add_wait(gpu, "a face", box + 1, before + 1);
          add_read(gpu, "a face", box, message, [box](State& s) { ++s[box + 2]; });
        }
      };
      if (r.packs_first) pack();
      read();
      if (!r.packs_first) pack();
    }
  }
  return processes;
}

}  // namespace

TEST_CASE("mailboxes in a ring of ranks") {
  for (const Ring& r : {Ring{2, 5}, Ring{3, 4}, Ring{2, 4, 1}}) {
    const Outcome outcome = explore(ring(r));
    INFO(outcome.fault);
    CHECK(outcome.fault.empty());
    CHECK(outcome.states > 100);
    MESSAGE(r.ranks << " ranks, " << r.buffers << " buffers: " << outcome.states << " states");
  }
}

TEST_CASE("where all neighbours exchange faces in two buffers in turn there is always room") {
  // Who has the faces of the next exchange knows that the others have read those of this one: as in sums between GPUs. The wait is for
  // programs in which somebody sends and does not receive, and costs nothing where there is room.
  CHECK(explore(ring({.ranks = 3, .iterations = 4, .waits_for_room = false})).fault.empty());
}

TEST_CASE("the checker finds what is wrong with other protocols") {
  CHECK(explore(ring({.ranks = 2, .iterations = 4, .buffers = 1, .waits_for_room = false})).fault.find("a rule is broken") !=
        std::string::npos);
  CHECK(explore(ring({.ranks = 2, .iterations = 2, .packs_first = false})).fault.find("nobody can go on") != std::string::npos);
}
