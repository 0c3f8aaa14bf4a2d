#pragma once
// Software prefetch of CPU kernels.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Asks for the line at p. An architecture whose compiler scatters such instructions among loads has an overload for const char*.
template <class Byte>
inline __attribute__((always_inline)) void ask_for_line(const Byte* p) {
  __builtin_prefetch(p);
}

/// Asks for the lines of 64 bytes of `Words` words of W lanes.
template <int W, int Words, class F>
inline __attribute__((always_inline)) void prefetch_words(const F* p) {
  const char* from = reinterpret_cast<const char*>(p);
  site::unroll<(Words * W * static_cast<int>(sizeof(F)) + 63) / 64>([&](auto line)
                                                                        QUARKSTAR_INLINE_LAMBDA { ask_for_line(from + 64 * line); });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
