#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_in_lanes_cuda.cuh"

QUARKSTAR_HOPPING_IN_LANES_LAUNCH(float, quarkstar::clover::Epilogue);
QUARKSTAR_HOPPING_IN_LANES_LAUNCH(double, quarkstar::clover::Epilogue);
