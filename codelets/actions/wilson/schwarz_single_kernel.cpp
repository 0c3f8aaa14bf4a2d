#include "codelets/actions/wilson/schwarz_cpu.hpp"

QUARKSTAR_SCHWARZ_KERNELS(float)
