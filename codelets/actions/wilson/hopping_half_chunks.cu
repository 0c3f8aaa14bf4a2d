#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, true, true, quarkstar::stencil::LinearEpilogue);
QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, true, false, quarkstar::stencil::LinearEpilogue);
