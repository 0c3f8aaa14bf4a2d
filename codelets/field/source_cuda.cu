#include "codelets/arch/items.cuh"
#include "codelets/field/source_site.hpp"

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::WriteSource)
QUARKSTAR_ITEMS_ON_CUDA(quarkstar::WriteSlices)
