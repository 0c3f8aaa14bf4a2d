#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, true, true)
QUARKSTAR_HOPPING_LAUNCH(double, true, false)
