#include "runtime/mpi/mailboxes.hpp"

#include "runtime/mpi/messages.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/transports.hpp"
#include "runtime/simulate/rank_times.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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
enum FlagKind { arrived, consumed, received_count, sent_count };
/// What a rank tells others of a slot: where its message lies, from whom it comes, its length.
constexpr std::size_t row_words = 3;

std::size_t padded(std::size_t bytes) { return (bytes + aligned - 1) / aligned * aligned; }

/// In host memory, for the slots whose other ends the GPU does not reach: a buffer and two flags each, and the messages between them and
/// the other rank. Nothing where a rank has no memory left. Collective.
std::optional<Transports::Ends> ends_through_host(Job& job, Transports& transports, const GpuPiece& piece,
                                                  const std::vector<Mailboxes::Slot>& received, const std::vector<Mailboxes::Slot>& sent) {
  const auto is_far = [&piece](const Mailboxes::Slot& slot) {
    return slot.bytes > 0 && piece.of_rank[static_cast<std::size_t>(slot.peer)] == nullptr;
  };
  std::size_t bytes = 0, longest = 0;
  for (const auto* slots : {&received, &sent})
    for (const Mailboxes::Slot& slot : *slots)
      if (is_far(slot)) {
        bytes += padded(slot.bytes) + 2 * aligned;
        longest = std::max(longest, slot.bytes);
      }
  if (!job.any(bytes > 0)) return Transports::Ends{};
  job.together([longest] { require_countable(longest); });
  std::byte* memory = bytes > 0 ? host_memory_of_gpu(bytes) : nullptr;
  if (job.any(bytes > 0 && memory == nullptr)) {
    if (memory != nullptr) give_back_host_memory();
    return std::nullopt;
  }
  Proxy& proxy = transports.proxy();
  // Messages are told apart by the slots of their readers.
  const int first_tag = proxy.reserve_tags(static_cast<int>(received.size()));
  const auto take = [&memory](std::size_t size) { return std::exchange(memory, memory + padded(size)); };
  const auto take_flag = [&take] { return reinterpret_cast<GpuFlag*>(take(sizeof(GpuFlag))); };
  Transports::Ends ends{std::vector<Mailbox>(received.size()), std::vector<Mailbox>(sent.size())};
  for (std::size_t i = 0; i < received.size(); ++i)
    if (const Mailboxes::Slot& slot = received[i]; is_far(slot)) {
      Mailbox& end = ends.received[i];
      end.data = take(slot.bytes);
      end.arrived = take_flag();
      end.consumed = take_flag();
      proxy.add_receive(end.data, slot.bytes, slot.peer, first_tag + static_cast<int>(i), end.arrived, end.consumed);
    }
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (const Mailboxes::Slot& slot = sent[i]; is_far(slot)) {
      Mailbox& end = ends.sent[i];
      end.data = take(slot.bytes);
      end.arrived = take_flag();
      end.consumed = take_flag();
      proxy.add_send(end.data, slot.bytes, slot.peer, first_tag + static_cast<int>(slot.there), end.arrived, end.consumed);
    }
  return ends;
}

}  // namespace

std::shared_ptr<const Mailboxes> Mailboxes::open(GpuPeers& peers, int rank, const std::vector<Slot>& received,
                                                 const std::vector<Slot>& sent) {
  const Layout layout{received.size()};
  if (simulate::stands_for_ranks()) {  // nothing goes through them
    static std::size_t halos = 0;
    auto ends = std::make_shared<Mailboxes>();
    ends->received_.resize(layout.slots);
    ends->sent_.resize(layout.slots);
    const std::size_t first = layout.slots * halos++;
    for (std::size_t i = 0; i < layout.slots; ++i) {
      if (received[i].bytes > 0) ends->received_[i].data = simulate::keep({first + i, received[i].peer, received[i].bytes});
      if (sent[i].bytes > 0) ends->sent_[i].data = simulate::keep({first + sent[i].there, sent[i].peer, sent[i].bytes});
    }
    return ends;
  }
  // Others learn where each message lies, and from whom it comes: pieces with other partners are other pieces.
  std::vector<std::uint64_t> row;
  std::size_t bytes = layout.messages();
  for (const Slot& slot : received) {
    row.push_back(slot.bytes > 0 ? bytes : 0);
    row.push_back(static_cast<std::uint64_t>(slot.peer + 1));
    row.push_back(slot.bytes);  // requests between hosts have a length
    bytes += padded(slot.bytes);
  }
  Job& job = Job::current();
  Transports& transports = *job.native().transports;
  for (const bool reaches : transports.direct) row.push_back(reaches ? 1 : 0);  // a pair that has stopped working gets other pieces
  const std::shared_ptr<GpuPiece> piece = peers.piece(bytes, 2 * layout.slots, row);
  if (piece == nullptr) return nullptr;
  if (!transports.ends.contains(piece.get())) {
    auto made = ends_through_host(job, transports, *piece, received, sent);
    if (!made) return nullptr;
    transports.ends[piece.get()] = *std::move(made);
  }
  const Transports::Ends& ends = transports.ends.at(piece.get());

  auto all = std::make_shared<Mailboxes>();
  all->piece_ = piece;
  all->received_.resize(layout.slots);
  all->sent_.resize(layout.slots);
  all->what_.resize(2 * layout.slots);
  // Nothing of a rank whose memory this GPU does not reach.
  const auto at = [&](int of, std::size_t offset) {
    std::byte* const memory = piece->of_rank[static_cast<std::size_t>(of)];
    return memory == nullptr ? nullptr : memory + offset;
  };
  const auto flag = [&](int of, FlagKind kind, std::size_t slot) { return reinterpret_cast<GpuFlag*>(at(of, layout.flag(kind, slot))); };
  const auto through_host = [](Mailbox& mailbox, const std::vector<Mailbox>& list, std::size_t i) {
    if (i >= list.size() || list[i].data == nullptr) return;
    mailbox.data = list[i].data;
    mailbox.arrived = list[i].arrived;
    mailbox.consumed = list[i].consumed;
  };
  for (std::size_t i = 0; i < layout.slots; ++i) {
    if (const Slot& slot = received[i]; slot.bytes > 0) {
      all->received_[i] = {at(rank, row[row_words * i]),  flag(rank, arrived, i), flag(slot.peer, consumed, slot.there),
                           flag(rank, received_count, i), piece->host + i,        peers.patience_ns()};
      through_host(all->received_[i], ends.received, i);
      all->what_[i] = slot.what;
    }
    if (const Slot& slot = sent[i]; slot.bytes > 0) {
      all->sent_[i] = {at(slot.peer, piece->said_by(slot.peer, row_words * slot.there)),
                       flag(slot.peer, arrived, slot.there),
                       flag(rank, consumed, i),
                       flag(rank, sent_count, i),
                       piece->host + layout.slots + i,
                       peers.patience_ns()};
      through_host(all->sent_[i], ends.sent, i);
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
