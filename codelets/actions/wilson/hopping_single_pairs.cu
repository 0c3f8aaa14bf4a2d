#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, 2, true)
QUARKSTAR_HOPPING_LAUNCH(float, 2, false)
