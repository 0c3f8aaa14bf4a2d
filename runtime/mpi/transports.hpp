#pragma once
// How the GPUs of a job reach each other, pair by pair.
#include "runtime/mpi/gpu_peers.hpp"
#include "runtime/mpi/host_exchange.hpp"
#include "runtime/mpi/host_groups.hpp"
#include "runtime/mpi/proxy.hpp"
#include "runtime/mpi/two_step_sums.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace quarkstar::runtime::mpi {

/// What GpuPeers has found out, and what works for the pairs of ranks whose GPUs do not reach each other. All ranks have one or none.
class Transports {
 public:
  Transports(Job& job, HostGroups its_groups);

  const HostGroups groups;
  std::vector<bool> direct;  ///< by rank: this rank's GPU and that one's write into each other's memory; its own: true

  /// Mailboxes through host memory; made when they are first needed, by all ranks together.
  Proxy& proxy();
  GpuFlag* exchange_memory = nullptr;  ///< HostExchange::words(), once it was needed
  /// From now on sums of scalar steps go by this memory (HostExchange::words()), or not, where it is nullptr. Collective.
  void exchange_by(GpuFlag* memory);
  bool exchanges() const { return exchange_ != nullptr; }

  /// What a halo's mailboxes that go through the proxy have in host memory, by slot; those of others are empty.
  struct Ends {
    std::vector<Mailbox> received, sent;
  };
  std::map<const GpuPiece*, Ends> ends;  ///< of each piece, which live as long

  /// Whether the thread of messages must look after it all the time.
  bool is_needed() const { return proxy_ != nullptr || exchange_ != nullptr; }
  /// Moves all that can move; whether that was anything. Calls MPI, so with the library in hand.
  bool advance();
  /// Whether every face that this rank's GPU has written for another host has left. From any thread.
  bool at_rest() const { return proxy_ == nullptr || proxy_->at_rest(); }

 private:
  Job& job_;
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<TwoStepSums> sums_;
  std::unique_ptr<HostExchange> exchange_;
};

/// Zeroed host memory that this rank's GPU reads and writes too, at the same address; nullptr: none is left, or this build has no GPU code.
/// It goes with the process, or with a guest's job (free_kept_pieces()).
std::byte* host_memory_of_gpu(std::size_t bytes);
/// Gives back what it gave last.
void give_back_host_memory();

}  // namespace quarkstar::runtime::mpi
