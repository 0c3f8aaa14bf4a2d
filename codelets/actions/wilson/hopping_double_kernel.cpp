#include "codelets/actions/wilson/hopping_cpu.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"

QUARKSTAR_HOPS(double)
QUARKSTAR_HOPPING_KERNELS(double, quarkstar::stencil::LinearEpilogue)
