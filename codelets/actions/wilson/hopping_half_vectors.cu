#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 1, false, quarkstar::stencil::LinearEpilogue)
