#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, 2, true)
QUARKSTAR_HOPPING_LAUNCH(double, 2, false)
