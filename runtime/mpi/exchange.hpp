#pragma once
// Fields of the host between ranks.
#include "runtime/mpi/job.hpp"

#include <cstddef>
#include <span>

namespace quarkstar::runtime::mpi {

/// Bytes of another rank, or for it.
struct Parcel {
  int rank;
  std::span<std::byte> bytes;
};

/// Sends and receives parcels, of lengths that both ends know, at most one each way between two ranks. All ranks call.
void exchange(Job& job, std::span<const Parcel> send, std::span<const Parcel> receive);

}  // namespace quarkstar::runtime::mpi
