#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, false, false, quarkstar::stencil::LinearEpilogue);
