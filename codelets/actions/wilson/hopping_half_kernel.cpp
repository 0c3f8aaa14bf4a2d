#include "codelets/actions/wilson/hopping_cpu.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"

QUARKSTAR_HOPS(Half)
QUARKSTAR_HOPPING_KERNELS(quarkstar::Half, quarkstar::stencil::LinearEpilogue)
