#include "codelets/actions/wilson/hopping_many.hpp"

QUARKSTAR_MANY_VECTORS_KERNELS(Half)
