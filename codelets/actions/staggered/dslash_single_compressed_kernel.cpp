#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(float, 14)
QUARKSTAR_DSLASH_KERNEL(float, 13)
QUARKSTAR_DSLASH_KERNEL(float, 9)
