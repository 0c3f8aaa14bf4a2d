#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(double, 0)
QUARKSTAR_DSLASH_KERNEL(double, 18)
QUARKSTAR_COLOUR_PACK_KERNEL(double)
