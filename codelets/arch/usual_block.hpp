#pragma once
#include "codelets/arch/site_stores.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Whether a block of W lanes is of a usual layout. Others, of odd extents or of ranks whose processors differ, have fewer kernels.
template <class F, int W>
inline constexpr bool is_usual_block = fills_registers<F, W> || W * sizeof(Real<F>) == 64;

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
