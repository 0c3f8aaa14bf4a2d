#pragma once
// The faces that blocks send each other: handles within a rank, messages between ranks.
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/handle.hpp"
#include "runtime/mpi/mailboxes.hpp"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::runtime {

/// Double-buffered faces of every block of this rank. A face is named after the direction in which its reader looks. For each
/// application of an operator:
///   1. next();  2. for every block and cut direction, a task that writes outgoing(block, direction), for the neighbour on the far
///   side;  3. exchange();  4. tasks that read incoming(block, direction).
/// Where the reader is on this rank, outgoing() is the reader's incoming() and no byte moves. Needs a running session.
class Halo {
 public:
  /// bytes(block, direction): size of the face that a local block reads; 0: none. Equal on both sides of a cut by construction of the
  /// blocks. what: names its messages in diagnostics. All ranks make the halos of distributed decompositions in the same order.
  Halo(const Decomposition& decomposition, const std::function<std::size_t(int block, int direction)>& bytes, const char* what);

  /// Turns to the other buffers: a writer need not wait for the last reader.
  void next() { buffer_ ^= 1; }
  /// Where the pack task of a local block writes for the neighbour that looks along `direction` (and so lies on the other side).
  const Handle& outgoing(int block, int direction) const;
  /// Whether that memory may be another GPU's: the link there is slower than this one's memory. Only where GPUs own all blocks of this rank
  /// do they write into each other's (runtime/gpu/several_gpus.hpp).
  bool is_far(int block, int direction) const;
  const Handle& incoming(int block, int direction) const { return incoming_[buffer_][slot(block, direction)]; }
  /// Submits the messages of this application, after its packs. Without other ranks there are none. In a batch, where the ranks' GPUs
  /// reach each other, the first one of a halo makes its mailboxes: collective.
  void exchange();

 private:
  std::size_t slot(int block, int direction) const { return static_cast<std::size_t>(decomposition_->local_index(block) * 8 + direction); }
  void open_mailboxes();
  int tag(int reader, int direction, std::size_t buffer) const {
    return *first_tag_ + 2 * static_cast<int>(slot(reader, direction)) + static_cast<int>(buffer);
  }

  const Decomposition* decomposition_;
  const char* what_;
  bool only_gpus_;                                      ///< own blocks of this rank
  std::shared_ptr<const int> first_tag_;                ///< given back after the faces are gone
  std::array<std::vector<Handle>, 2> incoming_, sent_;  ///< [local block * 8 + direction]; sent: for readers on other ranks
  std::shared_ptr<const mpi::Mailboxes> mailboxes_;
  bool mailboxes_tried_ = false;
  std::size_t buffer_ = 0;
};

}  // namespace quarkstar::runtime
