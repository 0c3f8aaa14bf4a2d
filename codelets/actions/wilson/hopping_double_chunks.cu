#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, true, true, quarkstar::stencil::LinearEpilogue);
QUARKSTAR_HOPPING_LAUNCH(double, true, false, quarkstar::stencil::LinearEpilogue);
