#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 1, true, quarkstar::clover::Epilogue)
QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 1, false, quarkstar::clover::Epilogue)
