// What an architecture's header says of layouts, for everybody else.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/lane_bytes.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

int lane_bytes() { return layout_bytes; }

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
