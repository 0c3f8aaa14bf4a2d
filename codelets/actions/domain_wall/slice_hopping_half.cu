#include "codelets/actions/domain_wall/slice_hopping_cuda.cuh"

QUARKSTAR_SLICE_HOPPING_LAUNCH(quarkstar::Half);
