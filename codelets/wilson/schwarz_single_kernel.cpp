#include "codelets/wilson/schwarz_cpu.hpp"

QUARKSTAR_SCHWARZ_KERNELS(float)
