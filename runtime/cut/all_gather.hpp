#pragma once
// A piece of every block of a small lattice on every rank.
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/handle.hpp"
#include "runtime/mpi/mailboxes.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::runtime {

/// What tasks on one block need of all others. Where there are other ranks, each sends its blocks' pieces to all of them: so many messages
/// as blocks times ranks, for lattices of few sites. Needs a running session. All ranks make them in the same order.
class AllGather {
 public:
  using Piece = std::function<const Handle&(int block)>;
  /// bytes(block): of a block's piece, of any rank. what: names its messages in diagnostics.
  AllGather(const Decomposition& decomposition, const std::function<std::size_t(int block)>& bytes, const char* what);

  /// Submits copies for the other ranks and the messages, after the tasks that write the pieces of this rank's blocks.
  void exchange(const Piece& own);
  /// The piece of any block, own or received: for tasks behind exchange().
  const Handle& piece(int block, const Piece& own) const;

 private:
  void open_mailboxes();
  int ranks() const { return static_cast<int>(volume(decomposition_->ranks())); }
  /// Of the message that brings a block's piece to a rank.
  std::size_t slot(int reader, int block) const { return static_cast<std::size_t>(reader * decomposition_->count() + block); }
  template <class Body>
  void for_sent(Body&& body) const;
  template <class Body>
  void for_received(Body&& body) const;

  const Decomposition* decomposition_;
  const char* what_;
  std::shared_ptr<const int> first_tag_;  ///< given back after the pieces are gone
  std::vector<Handle> received_;          ///< by block
  std::vector<Handle> sent_;              ///< by slot: a message has memory of its own, which a GPU program replaces by its mailbox
  std::shared_ptr<const mpi::Mailboxes> mailboxes_;
  bool mailboxes_tried_ = false;
};

}  // namespace quarkstar::runtime
