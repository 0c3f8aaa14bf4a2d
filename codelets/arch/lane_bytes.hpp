#pragma once
// How many bytes the lanes of a layout should fill, for CPU kernels.
#include "codelets/arch/dispatch.hpp"

namespace quarkstar {

#define QUARKSTAR_DECLARE_LANE_BYTES(architecture) \
  namespace architecture {                         \
  int lane_bytes();                                \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_LANE_BYTES)
#undef QUARKSTAR_DECLARE_LANE_BYTES

namespace arch {

/// 64 or 32, where kernels of the architecture are fastest by rule. Throws Error(input) as current() does.
int lane_bytes(Architecture architecture = current());

}  // namespace arch
}  // namespace quarkstar
