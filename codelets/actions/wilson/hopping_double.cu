#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, 1, true, quarkstar::stencil::LinearEpilogue)
