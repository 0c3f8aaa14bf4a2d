#include "codelets/wilson/hopping_kernels.hpp"

#include "codelets/arch/table.hpp"

namespace quarkstar::wilson {
namespace {

constexpr arch::KernelTable<HoppingKernel<float> (*)(const KernelChoice&)> hopping_single = QUARKSTAR_KERNEL_TABLE(hopping_kernel_single);
constexpr arch::KernelTable<HoppingKernel<double> (*)(const KernelChoice&)> hopping_double = QUARKSTAR_KERNEL_TABLE(hopping_kernel_double);
constexpr arch::KernelTable<PackKernel<float> (*)(int, int, int)> pack_single = QUARKSTAR_KERNEL_TABLE(pack_kernel_single);
constexpr arch::KernelTable<PackKernel<double> (*)(int, int, int)> pack_double = QUARKSTAR_KERNEL_TABLE(pack_kernel_double);

}  // namespace

template <>
HoppingKernel<float> hopping_kernel(const KernelChoice& choice) { return hopping_single.current()(choice); }
template <>
HoppingKernel<double> hopping_kernel(const KernelChoice& choice) { return hopping_double.current()(choice); }
template <>
PackKernel<float> pack_kernel(int lanes, int direction, int sign) { return pack_single.current()(lanes, direction, sign); }
template <>
PackKernel<double> pack_kernel(int lanes, int direction, int sign) { return pack_double.current()(lanes, direction, sign); }

}  // namespace quarkstar::wilson
