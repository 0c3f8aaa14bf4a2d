#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(double, 0)
QUARKSTAR_DSLASH_LAUNCH(double, 18)
