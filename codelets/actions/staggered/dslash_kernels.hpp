#pragma once
// The compiled staggered kernels of every architecture; and the lookup for the architecture in use.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/arch/dispatch.hpp"

namespace quarkstar {

/// Specialised for the formats double, float and Half; long links of each number of reals are compiled apart. With vectors in lanes they
/// have 18 reals, or there are none.
#define QUARKSTAR_DECLARE_DSLASH(architecture)                                            \
  namespace architecture {                                                                \
  template <class F, int LongReals>                                                       \
  staggered::DslashKernel<F> dslash_kernel(int lanes, int prefetch);                      \
  template <class F, int LongReals>                                                       \
  staggered::DslashKernel<F> vectors_in_lanes_kernel(int vectors_in_lanes, int prefetch); \
  template <class F>                                                                      \
  staggered::PackKernel<F> colour_pack_kernel(int lanes, bool forward);                   \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_DSLASH)
#undef QUARKSTAR_DECLARE_DSLASH

namespace staggered {

/// Kernel of the architecture in use for a choice; nullptr when there is none for that many lanes, vectors in lanes or link reals.
template <class F>
DslashKernel<F> dslash_kernel(const KernelChoice& choice);
/// forward: for a reader that looks forward. lanes: of sites, or vectors in lanes.
template <class F>
PackKernel<F> pack_kernel(int lanes, bool forward);

}  // namespace staggered
}  // namespace quarkstar
