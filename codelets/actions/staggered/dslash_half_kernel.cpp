#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(quarkstar::Half, 0)
QUARKSTAR_DSLASH_KERNEL(quarkstar::Half, 18)
QUARKSTAR_COLOUR_PACK_KERNEL(quarkstar::Half)
