#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, false, false, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, true, true, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, true, false, quarkstar::clover::Epilogue);
