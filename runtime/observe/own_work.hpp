#pragma once
#include "runtime/graph/cost.hpp"

namespace quarkstar::runtime {

/// Work that the calling thread does itself, without a task: Events::of_this_thread() counts it, and nothing else.
void count_own_work(const Cost& cost);

}  // namespace quarkstar::runtime
