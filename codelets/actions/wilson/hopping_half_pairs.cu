#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 2, true)
QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 2, false)
