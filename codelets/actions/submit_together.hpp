#pragma once
// Work of a solve outside of its batches of iterations.
#include "runtime/graph/batch.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"

#include <utility>

namespace quarkstar {

/// Calls submit(), whose tasks exchange faces. Where ranks have a GPU each they become one batch, because messages go
/// from GPU to GPU in batches only; through the host the faces of one Dslash for eight right-hand sides in double
/// precision take as long as many iterations. Elsewhere, or inside a batch, submit() is just called.
template <class Submit>
void submit_together(Submit&& submit) {
  const runtime::mpi::Messages* messages = runtime::Session::current().messages();
  if (messages == nullptr || !messages->by_device() || runtime::Batch::current() != nullptr) {
    std::forward<Submit>(submit)();
    return;
  }
  runtime::Batch batch;
  std::forward<Submit>(submit)();
  batch.submit();
}

}  // namespace quarkstar
