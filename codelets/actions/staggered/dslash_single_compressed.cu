#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(float, 14)
QUARKSTAR_DSLASH_LAUNCH(float, 13)
QUARKSTAR_DSLASH_LAUNCH(float, 9)
