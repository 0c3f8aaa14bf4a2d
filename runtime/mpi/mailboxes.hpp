#pragma once
// The mailboxes of the messages of one halo.
#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/mpi/gpu_peers.hpp"

#include <memory>
#include <string>
#include <vector>

namespace quarkstar::runtime::mpi {

/// For each slot of a halo where its messages arrive, and where those that it sends go: faces are written straight into
/// the reader's memory by the writer's GPU, and flags say what has been sent and consumed (runtime/gpu/gpu_messages.hpp).
/// Device memory: twice the faces; faces that leave through host memory as much again, there too.
class Mailboxes {
 public:
  /// A place for a message, one of the halo's slots. All ranks have as many slots.
  struct Slot {
    std::size_t bytes = 0;  ///< 0: no message
    int peer = -1;          ///< rank at the other end
    std::size_t there = 0;  ///< slot of the other end
    std::string what{};     ///< for a watchdog: "face of block 3 along -t from rank 2 (node12), tag 17"
  };

  /// Collective. Nothing where a rank has no memory left.
  static std::shared_ptr<const Mailboxes> open(GpuPeers& peers, int rank, const std::vector<Slot>& received, const std::vector<Slot>& sent);

  const Mailbox& received(std::size_t slot) const { return received_[slot]; }
  const Mailbox& sent(std::size_t slot) const { return sent_[slot]; }

  /// What this rank's GPU has waited for during the last second or longer.
  std::vector<std::string> waiting() const;

 private:
  std::shared_ptr<GpuPiece> piece_;
  std::vector<Mailbox> received_, sent_;
  std::vector<std::string> what_;  ///< of each word of piece_->host
};

}  // namespace quarkstar::runtime::mpi
