#include "codelets/actions/domain_wall/slice_cpu.hpp"

#define QUARKSTAR_SLICE_KERNELS(F)                           \
  template domain_wall::SliceKernel<F> slice_kernel<F>(int); \
  template wilson::HoppingKernel<F, domain_wall::SliceEpilogue> slice_hopping_kernel<F>(const wilson::KernelChoice&);

namespace quarkstar::QUARKSTAR_ARCH_NAME {
QUARKSTAR_SLICE_KERNELS(double)
QUARKSTAR_SLICE_KERNELS(float)
QUARKSTAR_SLICE_KERNELS(Half)
}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
