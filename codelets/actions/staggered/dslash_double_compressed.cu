#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(double, 14)
QUARKSTAR_DSLASH_LAUNCH(double, 13)
QUARKSTAR_DSLASH_LAUNCH(double, 9)
