#pragma once
// What travels with a task through StarPU: the codelet, its placement, and a copy of the arguments behind it.
#include "runtime/codelet.hpp"

namespace quarkstar::runtime::detail {

struct alignas(16) TaskRecord {
  const Codelet* codelet;
  Cost cost;
  Placement placement;

  void* arguments() { return this + 1; }
};

}  // namespace quarkstar::runtime::detail
