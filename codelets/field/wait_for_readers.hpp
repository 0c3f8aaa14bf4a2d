#pragma once
// The end of a solve that has others beside it.
#include "runtime/graph/handle.hpp"
#include "runtime/graph/turns.hpp"

#include <cstddef>

namespace quarkstar {

/// Waits for the tasks that read the two parities of a field, and for no other; their content is lost.
template <class Field>
void wait_for_readers(const Field& even, const Field& odd) {
  runtime::Turns::pass();
  for (const Field* part : {&even, &odd})
    for (const int b : part->lattice()->local_blocks())
      const runtime::HostView<std::byte> view(part->block(b), runtime::HostAccess::overwrite);
}

}  // namespace quarkstar
