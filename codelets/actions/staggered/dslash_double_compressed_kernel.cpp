#include "codelets/actions/staggered/dslash_cpu.hpp"

QUARKSTAR_DSLASH_KERNEL(double, 14)
QUARKSTAR_DSLASH_KERNEL(double, 13)
QUARKSTAR_DSLASH_KERNEL(double, 9)
