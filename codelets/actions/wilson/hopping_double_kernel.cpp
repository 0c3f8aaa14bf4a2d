#include "codelets/actions/wilson/hopping_cpu.hpp"

QUARKSTAR_HOPPING_KERNELS(double)
