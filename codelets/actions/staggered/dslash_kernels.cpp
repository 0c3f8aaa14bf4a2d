#include "codelets/actions/staggered/dslash_kernels.hpp"

#include "codelets/arch/table.hpp"

namespace quarkstar {

#define QUARKSTAR_KNOW_DSLASH_OF(architecture, F)                            \
  namespace architecture {                                                   \
  extern template staggered::DslashKernel<F> dslash_kernel<F, 0>(int, int);  \
  extern template staggered::DslashKernel<F> dslash_kernel<F, 18>(int, int); \
  extern template staggered::DslashKernel<F> dslash_kernel<F, 14>(int, int); \
  extern template staggered::DslashKernel<F> dslash_kernel<F, 13>(int, int); \
  extern template staggered::DslashKernel<F> dslash_kernel<F, 9>(int, int);  \
  extern template staggered::PackKernel<F> colour_pack_kernel<F>(int, bool); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_DSLASH_OF, Half)
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_DSLASH_OF, float)
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOW_DSLASH_OF, double)
#undef QUARKSTAR_KNOW_DSLASH_OF

namespace staggered {
namespace {

template <class F, int LongReals>
DslashKernel<F> kernel_of(const KernelChoice& choice) {
  static constexpr arch::KernelTable<DslashKernel<F> (*)(int, int)> table = QUARKSTAR_KERNEL_TABLE(dslash_kernel<F, LongReals>);
  return table.current()(choice.lanes, choice.launch.memory.prefetch);
}

template <class F, int LongReals>
DslashKernel<F> kernel_in_lanes(const KernelChoice& choice) {
  static constexpr arch::KernelTable<DslashKernel<F> (*)(int, int)> table = QUARKSTAR_KERNEL_TABLE(vectors_in_lanes_kernel<F, LongReals>);
  return table.current()(choice.vectors_in_lanes, choice.launch.memory.prefetch);
}

}  // namespace

template <class F>
DslashKernel<F> dslash_kernel(const KernelChoice& choice) {
  if (choice.vectors_in_lanes > 1) {
    if (choice.link_reals == 0) return kernel_in_lanes<F, 0>(choice);
    return choice.link_reals == 18 ? kernel_in_lanes<F, 18>(choice) : nullptr;
  }
  switch (choice.link_reals) {
    case 0:
      return kernel_of<F, 0>(choice);
    case 18:
      return kernel_of<F, 18>(choice);
    case 14:
      return kernel_of<F, 14>(choice);
    case 13:
      return kernel_of<F, 13>(choice);
    case 9:
      return kernel_of<F, 9>(choice);
    default:
      return nullptr;
  }
}

template <class F>
PackKernel<F> pack_kernel(int lanes, bool forward) {
  static constexpr arch::KernelTable<PackKernel<F> (*)(int, bool)> table = QUARKSTAR_KERNEL_TABLE(colour_pack_kernel<F>);
  return table.current()(lanes, forward);
}

template DslashKernel<Half> dslash_kernel(const KernelChoice&);
template DslashKernel<float> dslash_kernel(const KernelChoice&);
template DslashKernel<double> dslash_kernel(const KernelChoice&);
template PackKernel<Half> pack_kernel(int, bool);
template PackKernel<float> pack_kernel(int, bool);
template PackKernel<double> pack_kernel(int, bool);

}  // namespace staggered
}  // namespace quarkstar
