#include "codelets/arch/items.cuh"
#include "codelets/quark_smear/colours_site.hpp"

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::quark_smear::MoveColours<false>)
QUARKSTAR_ITEMS_ON_CUDA(quarkstar::quark_smear::MoveColours<true>)
QUARKSTAR_ITEMS_ON_CUDA(quarkstar::quark_smear::WriteHopLinks)
