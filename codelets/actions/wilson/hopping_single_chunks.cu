#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, true, true)
QUARKSTAR_HOPPING_LAUNCH(float, true, false)
