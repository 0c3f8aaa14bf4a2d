#include "codelets/actions/twisted_mass/twist_term.hpp"
#include "codelets/actions/wilson/hopping_launch.cuh"

QUARKSTAR_HOPPING_LAUNCHES(quarkstar::twisted_mass::Epilogue)
QUARKSTAR_EPILOGUE_LAUNCHES(quarkstar::twisted_mass::Epilogue)
