#pragma once
// What travels with a task through StarPU: the codelet, its placement, and a copy of the arguments behind it.
#include "runtime/graph/codelet.hpp"

namespace quarkstar::runtime::detail {

struct alignas(16) TaskRecord {
  const Codelet* codelet;
  Cost cost;
  Placement placement;
  GpuTimes* gpu_times = nullptr;  ///< from the launch to the end of a CUDA task

  void* arguments() { return this + 1; }
};

}  // namespace quarkstar::runtime::detail
