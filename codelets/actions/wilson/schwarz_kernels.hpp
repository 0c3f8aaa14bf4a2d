#pragma once
// The compiled Schwarz kernels of every architecture, by name; and the lookup for the architecture in use.
#include "codelets/actions/wilson/schwarz_arguments.hpp"
#include "codelets/arch/dispatch.hpp"

namespace quarkstar {

#define QUARKSTAR_DECLARE_SCHWARZ(architecture)                       \
  namespace architecture {                                            \
  template <class F>                                                  \
  wilson::SchwarzKernel<F> schwarz_kernel(int lanes, int link_reals); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_SCHWARZ)
#undef QUARKSTAR_DECLARE_SCHWARZ

}  // namespace quarkstar
