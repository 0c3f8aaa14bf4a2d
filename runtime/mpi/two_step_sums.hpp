#pragma once
// Sums over ranks in two steps: in the memory of each host, then one message round between the hosts.
#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/host_sums.hpp"
#include "runtime/mpi/shared_memory.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::runtime::mpi {

/// Sums of exact sums over all ranks, in numbered order. The ranks of a host add theirs in shared memory (HostSums); then the first rank of
/// each host takes part in one MPI_Iallreduce for all sums of the number, and tells the others what came of it. A job on one host makes no
/// call of MPI at all; one with a rank a host makes one call on each rank. Sums of more than HostSums::most_sums, and all of a job whose
/// hosts do not share memory, are an MPI_Iallreduce of all ranks. The bits are the same on all ways.
class TwoStepSums {
 public:
  /// Collective.
  explicit TwoStepSums(Job& job);
  ~TwoStepSums();
  TwoStepSums(const TwoStepSums&) = delete;
  TwoStepSums& operator=(const TwoStepSums&) = delete;

  /// A sum that may start as soon as all with lower numbers have: total[i] <- sum over ranks of mine[i], i < count. Numbers begin at 0 and
  /// have no gaps. Both arrays stay until advance() has returned the token.
  void add(std::int64_t number, const BinnedSum* mine, BinnedSum* total, int count, void* token);
  /// Moves what can move; returns the tokens of sums that are complete, in the order of their numbers. Calls MPI, so with the library in
  /// hand (call_mpi()).
  std::vector<void*> advance();
  /// Why the ranks of a host do not add theirs in shared memory, by name, where there are several on one; else empty. The same on all
  /// ranks.
  const std::string& obstacle() const { return obstacle_; }
  /// Whether nothing was added that is not complete.
  bool idle() const { return waiting_.empty() && running_.empty(); }

 private:
  struct Native;  ///< MPI's own types
  struct Sum {
    const BinnedSum* mine;
    BinnedSum* total;
    int count;
    void* token;
    std::int64_t of_host = -1;  ///< its number among those that go through the host's memory; -1: straight through MPI
    bool contributed = false, reducing = false, complete = false;
  };
  bool move(Sum& sum);
  void reduce(Sum& sum, bool between_hosts);
  bool has_ended(Sum& sum);

  std::unique_ptr<SharedMemory> memory_;
  std::string obstacle_;
  std::unique_ptr<HostSums> host_;
  bool several_hosts_ = false;
  std::map<std::int64_t, Sum> waiting_;  ///< by number: those before them have not been added yet
  std::int64_t next_ = 0, next_of_host_ = 0, next_between_hosts_ = 0;
  std::deque<Sum> running_;
  std::unique_ptr<Native> native_;
};

}  // namespace quarkstar::runtime::mpi
