#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, true, true, quarkstar::stencil::LinearEpilogue);
QUARKSTAR_HOPPING_LAUNCH(float, true, false, quarkstar::stencil::LinearEpilogue);
