#include "codelets/actions/wilson/hopping_in_lanes_cuda.cuh"

QUARKSTAR_HOPPING_IN_LANES_LAUNCH(float, quarkstar::stencil::LinearEpilogue);
