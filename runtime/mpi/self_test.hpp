#pragma once
// Does the network between the ranks work, and how well?
#include "runtime/mpi/job.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace quarkstar::runtime::mpi {

struct PairTiming {
  int first = 0, second = 0;
  double latency_us = 0;      ///< half a round trip of 8 bytes, the fastest of 20
  double bandwidth_gbs = 0;   ///< 1 MiB messages, one way, the fastest of 8 round trips
  double both_ways_gbs = 0;   ///< the same each way while both send, as faces do
  std::uint64_t damaged = 0;  ///< 8-byte words that arrived with another value
};

/// The root hears every rank within the limit; otherwise the job ends with an error that names the silent ones. The others wait longer for
/// the root, so that it is the one who speaks unless it is silent itself. Collective; needs no session.
void roll_call(Job& job, std::chrono::seconds limit);

/// Messages of known contents between pairs of ranks: all pairs up to 32 ranks, beyond that partners at distances of powers of 2. One pair
/// after the other; contents are compared in rounds that are not timed. The root gets all timings, the others their own. Silent partners
/// are named within the limit, and end the job.
std::vector<PairTiming> time_pairs(Job& job, std::chrono::seconds limit);

/// Values of faces that arrived wrong.
struct FaceDamage {
  int sender = 0, reader = 0;  ///< ranks
  int direction = 0;           ///< in which the reader looks: 2 mu is +mu, 2 mu + 1 is -mu
  std::uint64_t words = 0;     ///< of 8 bytes
};

/// Faces of known values through the task graph, as a solver sends them: 2 blocks per rank in every direction, two exchanges in each of the
/// eight directions. Returns what was wrong on any rank, on all of them. Needs a running session.
std::vector<FaceDamage> exchange_known_faces(Job& job);

/// What the MPI library says about sending from GPU memory.
std::string describe_gpu_messages();

}  // namespace quarkstar::runtime::mpi
