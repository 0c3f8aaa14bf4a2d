#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_launch.cuh"

QUARKSTAR_HOPPING_LAUNCHES(quarkstar::clover::Epilogue);
QUARKSTAR_EPILOGUE_LAUNCHES(quarkstar::clover::Epilogue);
