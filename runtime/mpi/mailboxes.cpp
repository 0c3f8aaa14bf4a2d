#include "runtime/mpi/mailboxes.hpp"

namespace quarkstar::runtime::mpi {
namespace {

constexpr std::size_t aligned = 256;

/// Where things lie in a rank's piece: four flags a slot, then the messages.
struct Layout {
  std::size_t slots;
  std::size_t flag(int kind, std::size_t slot) const {
    return (static_cast<std::size_t>(kind) * slots + slot) * flag_stride * sizeof(GpuFlag);
  }
  std::size_t messages() const { return flag(4, 0); }
};
enum Kind { arrived, consumed, received_count, sent_count };

}  // namespace

std::shared_ptr<const Mailboxes> Mailboxes::open(GpuPeers& peers, int rank, const std::vector<Slot>& received,
                                                 const std::vector<Slot>& sent) {
  const Layout layout{received.size()};
  // Others learn where each message lies, and from whom it comes: pieces with other partners are other pieces.
  std::vector<std::uint64_t> row;
  std::size_t bytes = layout.messages();
  for (const Slot& slot : received) {
    row.push_back(slot.bytes > 0 ? bytes : 0);
    row.push_back(static_cast<std::uint64_t>(slot.peer + 1));
    bytes += (slot.bytes + aligned - 1) / aligned * aligned;
  }
  const std::shared_ptr<GpuPiece> piece = peers.piece(bytes, 2 * layout.slots, row);
  if (piece == nullptr) return nullptr;

  auto all = std::make_shared<Mailboxes>();
  all->piece_ = piece;
  all->received_.resize(layout.slots);
  all->sent_.resize(layout.slots);
  all->what_.resize(2 * layout.slots);
  const auto flag = [&](int of, Kind kind, std::size_t slot) {
    return reinterpret_cast<GpuFlag*>(piece->of_rank[static_cast<std::size_t>(of)] + layout.flag(kind, slot));
  };
  for (std::size_t i = 0; i < layout.slots; ++i) {
    if (const Slot& slot = received[i]; slot.bytes > 0) {
      all->received_[i] = {piece->of_rank[static_cast<std::size_t>(rank)] + row[2 * i],
                           flag(rank, arrived, i),
                           flag(slot.peer, consumed, slot.there),
                           flag(rank, received_count, i),
                           piece->host + i,
                           peers.patience_ns()};
      all->what_[i] = slot.what;
    }
    if (const Slot& slot = sent[i]; slot.bytes > 0) {
      all->sent_[i] = {piece->of_rank[static_cast<std::size_t>(slot.peer)] + piece->said_by(slot.peer, 2 * slot.there),
                       flag(slot.peer, arrived, slot.there),
                       flag(rank, consumed, i),
                       flag(rank, sent_count, i),
                       piece->host + layout.slots + i,
                       peers.patience_ns()};
      all->what_[layout.slots + i] = "room for the " + slot.what;
    }
  }
  return all;
}

std::vector<std::string> Mailboxes::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < what_.size(); ++i)
    if (static_cast<const volatile std::uint32_t*>(piece_->host)[i] != 0) lines.push_back(what_[i]);
  return lines;
}

}  // namespace quarkstar::runtime::mpi
