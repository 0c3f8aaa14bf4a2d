#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, 2, true, quarkstar::stencil::LinearEpilogue)
QUARKSTAR_HOPPING_LAUNCH(float, 2, false, quarkstar::stencil::LinearEpilogue)
