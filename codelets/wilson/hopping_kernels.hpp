#pragma once
// The compiled hopping kernels of every architecture, by name; and the lookup for the architecture in use.
#include "codelets/arch/dispatch.hpp"
#include "codelets/wilson/hopping_arguments.hpp"

namespace quarkstar {

#define QUARKSTAR_DECLARE_HOPPING(architecture)                                         \
  namespace architecture {                                                              \
  wilson::HoppingKernel<float> hopping_kernel_single(const wilson::KernelChoice&);      \
  wilson::HoppingKernel<double> hopping_kernel_double(const wilson::KernelChoice&);     \
  wilson::PackKernel<float> pack_kernel_single(int lanes, int direction, int sign);     \
  wilson::PackKernel<double> pack_kernel_double(int lanes, int direction, int sign);    \
  }
QUARKSTAR_DECLARE_HOPPING(scalar)
QUARKSTAR_DECLARE_HOPPING(avx2)
QUARKSTAR_DECLARE_HOPPING(avx512)
#undef QUARKSTAR_DECLARE_HOPPING

namespace wilson {

/// Kernel of the architecture in use for a choice; nullptr when there is none for that many lanes or link reals.
template <class T>
HoppingKernel<T> hopping_kernel(const KernelChoice& choice);
template <class T>
PackKernel<T> pack_kernel(int lanes, int direction, int sign);

}  // namespace wilson
}  // namespace quarkstar
