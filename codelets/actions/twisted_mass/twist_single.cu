#include "codelets/actions/twisted_mass/twist_term.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, 1, true, quarkstar::twisted_mass::Epilogue)
QUARKSTAR_HOPPING_LAUNCH(float, 1, false, quarkstar::twisted_mass::Epilogue)
