#include "codelets/actions/wilson/hopping_cpu.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"

QUARKSTAR_HOPS(float)
QUARKSTAR_HOPPING_KERNELS(float, quarkstar::stencil::LinearEpilogue)
