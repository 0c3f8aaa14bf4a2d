#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(float, 0)
QUARKSTAR_DSLASH_LAUNCH(float, 18)
