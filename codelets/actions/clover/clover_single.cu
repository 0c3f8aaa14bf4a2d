#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(float, false, false, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(float, true, true, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(float, true, false, quarkstar::clover::Epilogue);
