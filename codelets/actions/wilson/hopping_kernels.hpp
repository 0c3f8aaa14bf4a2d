#pragma once
// The compiled hopping kernels of every architecture, by name; and the lookup for the architecture in use.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/arch/dispatch.hpp"

namespace quarkstar {

/// Specialised for the formats double, float and Half.
#define QUARKSTAR_DECLARE_HOPPING(architecture)                          \
  namespace architecture {                                               \
  template <class F>                                                     \
  wilson::HoppingKernel<F> hopping_kernel(const wilson::KernelChoice&);  \
  template <class F>                                                     \
  wilson::PackKernel<F> pack_kernel(int lanes, int direction, int sign); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_HOPPING)
#undef QUARKSTAR_DECLARE_HOPPING

namespace wilson {

/// Kernel of the architecture in use for a choice; nullptr when there is none for that many lanes or link reals.
template <class F>
HoppingKernel<F> hopping_kernel(const KernelChoice& choice);
template <class F>
PackKernel<F> pack_kernel(int lanes, int direction, int sign);

}  // namespace wilson
}  // namespace quarkstar
