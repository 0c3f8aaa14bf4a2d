#include "codelets/wilson/hopping_cpu.hpp"
#include "codelets/wilson/hopping_kernels.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

using SingleLanes = std::integer_sequence<int, 16, 8, 1>;

wilson::HoppingKernel<float> hopping_kernel_single(const wilson::KernelChoice& choice) {
  return find_hopping<float>(choice, SingleLanes{});
}
wilson::PackKernel<float> pack_kernel_single(int lanes, int direction, int sign) {
  return find_pack<float>(lanes, direction, sign, SingleLanes{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
