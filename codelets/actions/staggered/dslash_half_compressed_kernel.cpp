#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(quarkstar::Half, 14)
QUARKSTAR_DSLASH_KERNEL(quarkstar::Half, 13)
QUARKSTAR_DSLASH_KERNEL(quarkstar::Half, 9)
