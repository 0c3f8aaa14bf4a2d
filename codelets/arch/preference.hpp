#pragma once
// Which architecture's kernels run where nobody asks for one. Apart from dispatch.hpp, which every kernel includes.
#include "codelets/arch/dispatch.hpp"

#include <optional>

namespace quarkstar::arch {

/// From now on current() is this one where neither force() nor $QUARKSTAR_ARCH names another; none: the widest again. While no task runs.
/// Throws Error(input) when it is not available.
void prefer(std::optional<Architecture> architecture);

/// Whether $QUARKSTAR_ARCH names one. Throws as current() does.
bool is_asked_for();

}  // namespace quarkstar::arch
