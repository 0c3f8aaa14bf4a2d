#include "codelets/actions/wilson/hopping_kernels.hpp"

#include "codelets/arch/table.hpp"

namespace quarkstar {

#define QUARKSTAR_KNOW_HOPPING_OF(architecture, F)                          \
  namespace architecture {                                                  \
  template <>                                                               \
  wilson::Hops<F> hops_of<F>(const wilson::KernelChoice&);                  \
  template <>                                                               \
  wilson::PackKernel<F> pack_kernel<F>(int lanes, int direction, int sign); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_HOPPING_OF, Half)
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_HOPPING_OF, float)
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_HOPPING_OF, double)
#undef QUARKSTAR_KNOW_HOPPING_OF

namespace wilson {

template <class F>
HoppingKernel<F> hopping_kernel(const KernelChoice& choice) {
  static constexpr arch::KernelTable<HoppingKernel<F> (*)(const KernelChoice&)> table =
      QUARKSTAR_KERNEL_TABLE(hopping_kernel<F, stencil::LinearEpilogue>);
  return table.current()(choice);
}
template <class F>
PackKernel<F> pack_kernel(int lanes, int direction, int sign) {
  static constexpr arch::KernelTable<PackKernel<F> (*)(int, int, int)> table = QUARKSTAR_KERNEL_TABLE(pack_kernel<F>);
  return table.current()(lanes, direction, sign);
}

template HoppingKernel<Half> hopping_kernel(const KernelChoice&);
template HoppingKernel<float> hopping_kernel(const KernelChoice&);
template HoppingKernel<double> hopping_kernel(const KernelChoice&);
template PackKernel<Half> pack_kernel(int, int, int);
template PackKernel<float> pack_kernel(int, int, int);
template PackKernel<double> pack_kernel(int, int, int);

}  // namespace wilson
}  // namespace quarkstar
