#pragma once
// The end of a solve that has others beside it.
#include "runtime/graph/turns.hpp"
#include "runtime/graph/wait_for_tasks.hpp"

namespace quarkstar {

/// Waits for the tasks that use the two parities of a field, and for no other.
template <class Field>
void wait_for_readers(const Field& even, const Field& odd) {
  runtime::Turns::wait([&] {
    for (const Field* part : {&even, &odd})
      for (const int b : part->lattice()->local_blocks()) runtime::wait_for_tasks(part->block(b));
  });
}

}  // namespace quarkstar
