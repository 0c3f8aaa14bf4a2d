#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"

QUARKSTAR_EPILOGUE_KERNELS(quarkstar::clover::Epilogue)
