#include "codelets/actions/wilson/hopping_many.hpp"

QUARKSTAR_HOPS_OF_VECTORS(Half)
