#include "codelets/wilson/hopping_cpu.hpp"
#include "codelets/wilson/hopping_kernels.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

using DoubleLanes = std::integer_sequence<int, 8, 4, 1>;

wilson::HoppingKernel<double> hopping_kernel_double(const wilson::KernelChoice& choice) {
  return find_hopping<double>(choice, DoubleLanes{});
}
wilson::PackKernel<double> pack_kernel_double(int lanes, int direction, int sign) {
  return find_pack<double>(lanes, direction, sign, DoubleLanes{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
