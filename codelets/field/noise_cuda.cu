#include "codelets/arch/items.cuh"
#include "codelets/field/noise_site.hpp"

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::WriteNoise<double>)
QUARKSTAR_ITEMS_ON_CUDA(quarkstar::WriteNoise<float>)
