#include "runtime/cut/all_gather.hpp"

#include "runtime/graph/scalar.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"

namespace quarkstar::runtime {

AllGather::AllGather(const Decomposition& decomposition, const std::function<std::size_t(int block)>& bytes, const char* what)
    : decomposition_(&decomposition), what_(what), received_(static_cast<std::size_t>(decomposition.count())) {
  mpi::Messages* messages = Session::current().messages();
  if (messages == nullptr || !decomposition.is_distributed()) return;
  for_received([&](int b) { received_[static_cast<std::size_t>(b)] = Handle(bytes(b)); });
  sent_.resize(static_cast<std::size_t>(ranks() * decomposition.count()));
  for_sent([&](int b, int reader) { sent_[slot(reader, b)] = Handle(bytes(b)); });
  first_tag_ = messages->reserve_tags(decomposition.count());
}

/// body(block, reader): of every block of this rank, and every other rank.
template <class Body>
void AllGather::for_sent(Body&& body) const {
  for (const int b : decomposition_->local())
    for (int reader = 0; reader < ranks(); ++reader)
      if (reader != decomposition_->rank()) body(b, reader);
}
/// body(block): of every block of another rank.
template <class Body>
void AllGather::for_received(Body&& body) const {
  for (const Block& block : decomposition_->blocks())
    if (!decomposition_->is_local(block.index)) body(block.index);
}

const Handle& AllGather::piece(int block, const Piece& own) const {
  return decomposition_->is_local(block) ? own(block) : received_[static_cast<std::size_t>(block)];
}

/// As a halo's (Halo::open_mailboxes()).
void AllGather::open_mailboxes() {
  mailboxes_tried_ = true;
  mpi::Messages& messages = *Session::current().messages();
  Session::current().wait_all();
  const int mine = decomposition_->rank();
  std::vector<mpi::Mailboxes::Slot> received(sent_.size()), sent(sent_.size());
  const auto describe = [&](int b, bool is_sent, int peer, std::size_t bytes) {
    return messages.describe({what_}, is_sent, peer, *first_tag_ + b, bytes);
  };
  for_received([&](int b) {
    const std::size_t bytes = received_[static_cast<std::size_t>(b)].bytes();
    const int sender = decomposition_->block(b).rank;
    received[slot(mine, b)] = {bytes, sender, slot(mine, b), describe(b, false, sender, bytes)};
  });
  for_sent([&](int b, int reader) {
    const std::size_t bytes = sent_[slot(reader, b)].bytes();
    sent[slot(reader, b)] = {bytes, reader, slot(reader, b), describe(b, true, reader, bytes)};
  });
  mailboxes_ = mpi::Mailboxes::open(messages.peers(), mine, received, sent);
  if (mailboxes_ != nullptr) messages.watch(mailboxes_);
}

void AllGather::exchange(const Piece& own) {
  mpi::Messages* messages = Session::current().messages();
  if (messages == nullptr || !decomposition_->is_distributed()) return;
  if (messages->collected() && !mailboxes_tried_) open_mailboxes();
  for_received([&](int b) {
    messages->receive(received_[static_cast<std::size_t>(b)], decomposition_->block(b).rank, *first_tag_ + b, {what_},
                      mailboxes_ != nullptr ? &mailboxes_->received(slot(decomposition_->rank(), b)) : nullptr);
  });
  for_sent([&](int b, int reader) {
    const Handle& sent = sent_[slot(reader, b)];
    detail::submit_copy(sent, own(b), sent.bytes(), decomposition_->block(b).owner);
    messages->send(sent, reader, *first_tag_ + b, {what_}, mailboxes_ != nullptr ? &mailboxes_->sent(slot(reader, b)) : nullptr);
  });
}

}  // namespace quarkstar::runtime
