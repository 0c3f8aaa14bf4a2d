#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(quarkstar::Half, 0)
QUARKSTAR_DSLASH_LAUNCH(quarkstar::Half, 18)
