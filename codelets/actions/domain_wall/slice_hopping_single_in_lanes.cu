#include "codelets/actions/domain_wall/slice_hopping_in_lanes_cuda.cuh"

QUARKSTAR_SLICE_HOPPING_IN_LANES_LAUNCH(float);
