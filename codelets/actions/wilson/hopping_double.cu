#include "codelets/actions/wilson/hopping_cuda.cuh"

namespace quarkstar {
QUARKSTAR_HOPPING_LAUNCHES(double)
}
