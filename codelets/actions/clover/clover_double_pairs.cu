#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, 2, true, quarkstar::clover::Epilogue)
QUARKSTAR_HOPPING_LAUNCH(double, 2, false, quarkstar::clover::Epilogue)
