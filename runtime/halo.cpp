#include "runtime/halo.hpp"

#include "runtime/mpi/messages.hpp"
#include "runtime/session.hpp"
#include "runtime/simulate/message.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::runtime {

Halo::Halo(const Decomposition& decomposition, const std::function<std::size_t(int block, int direction)>& bytes, const char* what)
    : decomposition_(&decomposition), what_(what) {
  for (std::size_t buffer = 0; buffer < 2; ++buffer) {
    for (const int b : decomposition.local())
      for (int d = 0; d < 8; ++d) {
        const std::size_t size = bytes(b, d);
        incoming_[buffer].push_back(size > 0 ? Handle(size) : Handle());
        const bool leaves = size > 0 && !decomposition.is_local(decomposition.neighbour(b, d ^ 1));
        sent_[buffer].push_back(leaves ? Handle(size) : Handle());
      }
  }
  // Tags count blocks of the reader's rank; all ranks have as many.
  if (mpi::Messages* messages = Session::current().messages(); messages != nullptr && decomposition.is_distributed())
    first_tag_ = messages->reserve_tags(static_cast<int>(decomposition.local().size()) * 8 * 2);
}

const Handle& Halo::outgoing(int block, int direction) const {
  const int reader = decomposition_->neighbour(block, direction ^ 1);
  return decomposition_->is_local(reader) ? incoming(reader, direction) : sent_[buffer_][slot(block, direction)];
}

void Halo::exchange() const {
  if constexpr (simulate::active)
    if (simulate::machine().nodes > 1)
      for (const int b : decomposition_->local())
        for (int d = 0; d < 8; ++d)
          if (incoming_[buffer_][slot(b, d)]) simulate::submit_message(incoming(b, d), decomposition_->block(b).owner);
  mpi::Messages* messages = Session::current().messages();
  if (messages == nullptr || !decomposition_->is_distributed()) return;
  for (const int b : decomposition_->local())
    for (int d = 0; d < 8; ++d) {
      if (!incoming_[buffer_][slot(b, d)]) continue;
      const Block& sender = decomposition_->block(decomposition_->neighbour(b, d));
      if (sender.rank != decomposition_->rank()) messages->receive(incoming(b, d), sender.rank, tag(b, d), {what_, b, d});
    }
  for (const int b : decomposition_->local())
    for (int d = 0; d < 8; ++d) {
      const Handle& face = sent_[buffer_][slot(b, d)];
      if (!face) continue;
      const Block& reader = decomposition_->block(decomposition_->neighbour(b, d ^ 1));
      messages->send(face, reader.rank, tag(reader.index, d), {what_, reader.index, d});
    }
}

}  // namespace quarkstar::runtime
