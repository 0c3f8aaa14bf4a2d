#include "runtime/cut/halo.hpp"

#include "runtime/gpu/several_gpus.hpp"
#include "runtime/graph/early_copy.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/simulate.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace quarkstar::runtime {
namespace {

bool gpus_own_all(const Decomposition& decomposition) {
  const std::vector<int>& blocks = decomposition.local();
  const int gpus = Session::current().gpu_count();
  return std::all_of(blocks.begin(), blocks.end(), [&](int b) { return decomposition.block(b).owner < gpus; });
}

/// Whether faces are copied as soon as they are packed. Not where GPUs write into each other's memory, in batches that are one task; nor
/// under policies that may run a block's tasks anywhere, except between nodes of a simulated machine: what crosses a network is a message,
/// whatever the policy.
bool copies_early(const Decomposition& decomposition) {
  const std::string& policy = Session::current().options().policy;
  if constexpr (simulate::active)
    if (simulate::machine().nodes > 1) return true;
  if (!copies_early_under(policy)) return false;
  std::vector<int> owners;
  for (const int b : decomposition.local()) owners.push_back(decomposition.block(b).owner);
  return !(keeps_owners(policy) && reach_each_other(owners));
}

}  // namespace

Halo::Halo(const Decomposition& decomposition, const std::function<std::size_t(int block, int direction)>& bytes, const char* what)
    : decomposition_(&decomposition), what_(what), only_gpus_(gpus_own_all(decomposition)) {
  for (std::size_t buffer = 0; buffer < 2; ++buffer) {
    for (const int b : decomposition.local())
      for (int d = 0; d < 8; ++d) {
        const std::size_t size = bytes(b, d);
        incoming_[buffer].push_back(size > 0 ? Handle(size) : Handle());
        const bool leaves = size > 0 && !decomposition.is_local(decomposition.neighbour(b, d ^ 1));
        sent_[buffer].push_back(leaves ? Handle(size) : Handle());
      }
  }
  if (copies_early(decomposition))
    for (const int b : decomposition.local())
      for (int d = 0; d < 8; ++d)
        if (const int sender = decomposition.neighbour(b, d); incoming_[0][slot(b, d)] && decomposition.is_local(sender))
          for (const std::vector<Handle>& faces : incoming_)
            copy_early(faces[slot(b, d)], decomposition.block(sender).owner, decomposition.block(b).owner);
  // Tags count blocks of the reader's rank; all ranks reserve as many.
  if (mpi::Messages* messages = Session::current().messages(); messages != nullptr && decomposition.is_distributed())
    first_tag_ = messages->reserve_tags(decomposition.most_blocks_of_a_rank() * 8 * 2);
}

const Handle& Halo::outgoing(int block, int direction) const {
  const int reader = decomposition_->neighbour(block, direction ^ 1);
  return decomposition_->is_local(reader) ? incoming(reader, direction) : sent_[buffer_][slot(block, direction)];
}

bool Halo::is_far(int block, int direction) const {
  if (!only_gpus_) return false;
  const Block& reader = decomposition_->block(decomposition_->neighbour(block, direction ^ 1));
  // What another rank's host fetches leaves through this device's memory, not over the link between GPUs.
  if (reader.rank != decomposition_->rank()) {
    const mpi::Messages* messages = Session::current().messages();
    return messages != nullptr && messages->by_device();
  }
  return reader.owner != decomposition_->block(block).owner;
}

void Halo::open_mailboxes() {
  mailboxes_tried_ = true;
  mpi::Messages& messages = *Session::current().messages();
  Session::current().wait_all();  // making and mapping device memory may wait for all that runs there
  // Each end's slots are those of its own blocks; all ranks have as many slots.
  const auto slot_of = [&](int b, int d, std::size_t buffer) { return 2 * slot(b, d) + buffer; };
  std::vector<mpi::Mailboxes::Slot> received(static_cast<std::size_t>(decomposition_->most_blocks_of_a_rank()) * 8 * 2),
      sent(received.size());
  for (const int b : decomposition_->local())
    for (int d = 0; d < 8; ++d)
      for (std::size_t buffer = 0; buffer < 2; ++buffer) {
        const Block& sender = decomposition_->block(decomposition_->neighbour(b, d));
        const Block& reader = decomposition_->block(decomposition_->neighbour(b, d ^ 1));
        if (const Handle& face = incoming_[buffer][slot(b, d)]; face && sender.rank != decomposition_->rank())
          received[slot_of(b, d, buffer)] = {face.bytes(), sender.rank, slot_of(sender.index, d, buffer),
                                             messages.describe({what_, b, d}, false, sender.rank, tag(b, d, buffer), face.bytes())};
        if (const Handle& face = sent_[buffer][slot(b, d)]; face)
          sent[slot_of(b, d, buffer)] = {
              face.bytes(), reader.rank, slot_of(reader.index, d, buffer),
              messages.describe({what_, reader.index, d}, true, reader.rank, tag(reader.index, d, buffer), face.bytes())};
      }
  if (simulate::stands_for_ranks()) simulate::set_rank_grid(decomposition_->ranks());
  mailboxes_ = mpi::Mailboxes::open(messages.peers(), decomposition_->rank(), received, sent);
  if (mailboxes_ != nullptr) messages.watch(mailboxes_);
  else if (mpi::Job::current().is_root())
    spdlog::warn("{}: a rank's GPU has no memory left for messages; they go through host memory, without a batch's graph", what_);
}

void Halo::exchange() {
  mpi::Messages* messages = Session::current().messages();
  if (messages == nullptr || !decomposition_->is_distributed()) return;
  if (messages->collected() && !mailboxes_tried_) open_mailboxes();
  for (const int b : decomposition_->local())
    for (int d = 0; d < 8; ++d) {
      if (!incoming_[buffer_][slot(b, d)]) continue;
      const Block& sender = decomposition_->block(decomposition_->neighbour(b, d));
      if (sender.rank != decomposition_->rank())
        messages->receive(incoming(b, d), sender.rank, tag(b, d, buffer_), {what_, b, d},
                          mailboxes_ != nullptr ? &mailboxes_->received(2 * slot(b, d) + buffer_) : nullptr);
    }
  for (const int b : decomposition_->local())
    for (int d = 0; d < 8; ++d) {
      const Handle& face = sent_[buffer_][slot(b, d)];
      if (!face) continue;
      const Block& reader = decomposition_->block(decomposition_->neighbour(b, d ^ 1));
      messages->send(face, reader.rank, tag(reader.index, d, buffer_), {what_, reader.index, d},
                     mailboxes_ != nullptr ? &mailboxes_->sent(2 * slot(b, d) + buffer_) : nullptr);
    }
}

}  // namespace quarkstar::runtime
