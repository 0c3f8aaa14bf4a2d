#include "codelets/actions/staggered/dslash_cuda.cuh"

QUARKSTAR_DSLASH_LAUNCH(quarkstar::Half, 14)
QUARKSTAR_DSLASH_LAUNCH(quarkstar::Half, 13)
QUARKSTAR_DSLASH_LAUNCH(quarkstar::Half, 9)
