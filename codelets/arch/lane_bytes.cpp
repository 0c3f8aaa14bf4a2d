#include "codelets/arch/lane_bytes.hpp"

#include "codelets/arch/table.hpp"

namespace quarkstar::arch {

int lane_bytes(Architecture architecture) {
  static constexpr KernelTable<int (*)()> of_architecture = QUARKSTAR_KERNEL_TABLE(lane_bytes);
  return of_architecture.of(architecture)();
}

}  // namespace quarkstar::arch
