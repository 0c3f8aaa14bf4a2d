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

/// Where things lie in a rank's piece: four flags a slot, then the messages that arrive.
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

/// Whether the other end of a slot is a rank whose GPU this one's does not reach.
bool is_relayed(const Transports& transports, const Mailboxes::Slot& slot) {
  return slot.bytes > 0 && !transports.direct[static_cast<std::size_t>(slot.peer)];
}

/// For those slots: host memory for a message and its flags, and the messages between that and the other rank. Nothing where a rank has no
/// memory left. Collective.
std::optional<Transports::Ends> ends_through_host(Job& job, Transports& transports, const std::vector<Mailboxes::Slot>& received,
                                                  const std::vector<Mailboxes::Slot>& sent) {
  constexpr std::size_t flags_bytes = flag_stride * sizeof(GpuFlag);
  std::size_t bytes = 0, longest = 0;
  for (const auto* slots : {&received, &sent})
    for (const Mailboxes::Slot& slot : *slots)
      if (is_relayed(transports, slot)) {
        bytes += padded(slot.bytes) + 2 * padded(flags_bytes);
        longest = std::max(longest, slot.bytes);
      }
  longest = job.combined(std::uint64_t{longest}, Combine::maximum);
  if (longest == 0) return Transports::Ends{};
  require_countable(longest);
  std::byte* memory = bytes > 0 ? host_memory_of_gpu(bytes) : nullptr;
  if (job.any(bytes > 0 && memory == nullptr)) {
    if (memory != nullptr) give_back_host_memory();
    return std::nullopt;
  }
  Proxy& proxy = transports.proxy();
  const int set = proxy.open_set(), most_pieces = relay_pieces(longest);
  const auto take = [&memory](std::size_t size) { return std::exchange(memory, memory + padded(size)); };
  const auto take_flags = [&take] { return reinterpret_cast<GpuFlag*>(take(flags_bytes)); };
  const auto end_of = [&](const Mailboxes::Slot& slot, std::size_t reader, auto add) {
    Mailbox end;
    if (!is_relayed(transports, slot)) return end;
    end.relay = take(slot.bytes);
    end.arrived = take_flags();
    end.consumed = take_flags();
    end.bytes = slot.bytes;
    end.piece = relay_piece(slot.bytes);
    const int tag = static_cast<int>(reader) * most_pieces;  // the slot of the reader tells messages apart
    for (int p = 0; p < relay_pieces(slot.bytes); ++p) {
      const std::size_t at = static_cast<std::size_t>(p) * end.piece;
      (proxy.*add)(set, end.relay + at, std::min(end.piece, end.bytes - at), slot.peer, tag + p, end.arrived + p, end.consumed + p);
    }
    return end;
  };
  Transports::Ends ends;
  for (std::size_t i = 0; i < received.size(); ++i) ends.received.push_back(end_of(received[i], i, &Proxy::add_receive));
  for (const Mailboxes::Slot& slot : sent) ends.sent.push_back(end_of(slot, slot.there, &Proxy::add_send));
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
  // What leaves through host memory is packed behind what arrives.
  std::vector<std::size_t> packed(layout.slots, 0);
  for (std::size_t i = 0; i < layout.slots; ++i)
    if (is_relayed(transports, sent[i])) packed[i] = std::exchange(bytes, bytes + padded(sent[i].bytes));
  for (const bool reaches : transports.direct) row.push_back(reaches ? 1 : 0);  // a pair that has stopped working gets other pieces
  const std::shared_ptr<GpuPiece> piece = peers.piece(bytes, 2 * layout.slots, row);
  if (piece == nullptr) return nullptr;
  if (!transports.ends.contains(piece.get())) {
    auto made = ends_through_host(job, transports, received, sent);
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
  // Where the mailbox is relayed, in place of what goes from GPU to GPU.
  const auto relayed = [&](Mailbox direct, const std::vector<Mailbox>& ends_of_slots, std::size_t i, std::size_t data) {
    if (i >= ends_of_slots.size() || ends_of_slots[i].relay == nullptr) return direct;
    Mailbox end = ends_of_slots[i];
    end.data = at(rank, data);
    return end;
  };
  const auto with_count = [&](Mailbox end, FlagKind kind, std::size_t slot, std::size_t word) {
    end.count = flag(rank, kind, slot);
    end.late = piece->host + word;
    end.patience_ns = peers.patience_ns();
    return end;
  };
  for (std::size_t i = 0; i < layout.slots; ++i) {
    if (const Slot& slot = received[i]; slot.bytes > 0) {
      const std::size_t data = row[row_words * i];
      const Mailbox direct{at(rank, data), flag(rank, arrived, i), flag(slot.peer, consumed, slot.there)};
      all->received_[i] = with_count(relayed(direct, ends.received, i, data), received_count, i, i);
      all->what_[i] = slot.what;
    }
    if (const Slot& slot = sent[i]; slot.bytes > 0) {
      const Mailbox direct{at(slot.peer, piece->said_by(slot.peer, row_words * slot.there)), flag(slot.peer, arrived, slot.there),
                           flag(rank, consumed, i)};
      all->sent_[i] = with_count(relayed(direct, ends.sent, i, packed[i]), sent_count, i, layout.slots + i);
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
