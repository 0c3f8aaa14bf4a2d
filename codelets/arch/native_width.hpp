#pragma once
// The vector width of kernels that go over a block's lanes alone and ask nothing of how sites lie in them.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// pick(Index<VL>) with the widest vectors of T that a block of so many lanes fills.
template <class T, class Pick>
auto with_native_width(int lanes, Pick&& pick) {
  constexpr int native = native_lanes<T>;
  if (lanes >= native) return pick(site::Index<native>{});
  // A block narrower than a register: half-width vectors where it has that many lanes, else one at a time.
  constexpr int half = native / 2;
  if constexpr (half * sizeof(T) >= 32)
    if (lanes >= half) return pick(site::Index<half>{});
  return pick(site::Index<1>{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
