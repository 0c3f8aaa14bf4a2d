#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, 1, false, quarkstar::stencil::LinearEpilogue)
