#include "codelets/arch/items.cuh"
#include "codelets/contract/sequential_site.hpp"

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::contract::WriteSequential)
