#pragma once
// Memory that the ranks of a host have in common.
#include "runtime/mpi/host_groups.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::runtime::mpi {

/// A piece for the ranks of this one's host, zeroed. It has no name by the time open() returns, so nothing stays behind where a process
/// ends later.
class SharedMemory {
 public:
  /// Collective over the job. bytes(ranks): of a piece for so many ranks, at least 8 each. Each rank writes and reads words in the piece
  /// before it is used; where that fails on any host (no room in /dev/shm, containers that do not share it) nobody has one: nullptr on all
  /// ranks, and `obstacle` says by name where.
  static std::unique_ptr<SharedMemory> open(Job& job, const HostGroups& groups, const std::function<std::size_t(int ranks)>& bytes,
                                            std::string& obstacle);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  /// Which of the ranks of this host this one is, from 0 in the order of ranks.
  int member() const { return member_; }
  int members() const { return static_cast<int>(ranks_.size()); }
  /// Ranks of this host, ascending.
  const std::vector<int>& ranks() const { return ranks_; }

 private:
  SharedMemory(Job& job, const HostGroups& groups, const std::function<std::size_t(int)>& bytes);
  std::vector<int> ranks_without(Job& job) const;

  std::vector<int> ranks_;
  int member_ = 0;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace quarkstar::runtime::mpi
