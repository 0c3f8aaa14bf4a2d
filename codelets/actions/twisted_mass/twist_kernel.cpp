#include "codelets/actions/twisted_mass/twist_term.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"

QUARKSTAR_EPILOGUE_KERNELS(quarkstar::twisted_mass::Epilogue)
