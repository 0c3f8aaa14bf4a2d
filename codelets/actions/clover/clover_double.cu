#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_cuda.cuh"

QUARKSTAR_HOPPING_LAUNCH(double, false, false, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(double, true, true, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_LAUNCH(double, true, false, quarkstar::clover::Epilogue);
