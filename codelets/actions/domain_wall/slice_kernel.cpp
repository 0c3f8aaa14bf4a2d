#include "codelets/actions/domain_wall/slice_cpu.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
template domain_wall::SliceKernel<double> slice_kernel<double>(int);
template domain_wall::SliceKernel<float> slice_kernel<float>(int);
template domain_wall::SliceKernel<Half> slice_kernel<Half>(int);
}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
