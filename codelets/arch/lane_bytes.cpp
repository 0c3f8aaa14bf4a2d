#include "codelets/arch/lane_bytes.hpp"

#include "codelets/arch/table.hpp"

namespace quarkstar::arch {

int lane_bytes() {
  static constexpr KernelTable<int (*)()> of_architecture = QUARKSTAR_KERNEL_TABLE(lane_bytes);
  return of_architecture.current()();
}

}  // namespace quarkstar::arch
