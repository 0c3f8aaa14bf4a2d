#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, false, true, quarkstar::stencil::LinearEpilogue);
