#pragma once
// The compiled hopping kernels of every architecture, by name; and the lookup for the architecture in use.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/arch/dispatch.hpp"

namespace quarkstar {

/// Specialised for the formats double, float and Half; hopping_kernel and epilogue_kernel also for epilogues, each in the folder of its
/// action.
#define QUARKSTAR_DECLARE_HOPPING(architecture)                                   \
  namespace architecture {                                                        \
  template <class F>                                                              \
  wilson::Hops<F> hops_of(const wilson::KernelChoice&);                           \
  template <class F, class Epilogue>                                              \
  wilson::HoppingKernel<F, Epilogue> hopping_kernel(const wilson::KernelChoice&); \
  template <class F, class Epilogue>                                              \
  wilson::EpilogueKernel<F, Epilogue> epilogue_kernel(int lanes);                 \
  template <class F>                                                              \
  wilson::PackKernel<F> pack_kernel(int lanes, int direction, int sign);          \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_HOPPING)
#undef QUARKSTAR_DECLARE_HOPPING

namespace wilson {

inline constexpr std::size_t no_site = ~std::size_t{0};  ///< SiteOfList::next where nothing is asked for ahead

/// Kernel of the architecture in use for a choice; without a range when there is none for that many lanes.
template <class F>
HoppingKernel<F> hopping_kernel(const KernelChoice& choice);
template <class F>
PackKernel<F> pack_kernel(int lanes, int direction, int sign);

}  // namespace wilson
}  // namespace quarkstar
