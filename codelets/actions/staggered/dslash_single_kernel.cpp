#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(float, 0)
QUARKSTAR_DSLASH_KERNEL(float, 18)
QUARKSTAR_COLOUR_PACK_KERNEL(float)
