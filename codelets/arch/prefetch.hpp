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

/// Asks for the lines of 64 bytes of `Words` words of W lanes. Level: of the cache. A processor waits for few lines on their way to the
/// first level (24 on Zen 4), which then is all the speed of a kernel that asks for whatever it reads; more are on their way to the second.
template <int W, int Words, int Level = 1, class F>
inline __attribute__((always_inline)) void prefetch_words(const F* p) {
  const char* from = reinterpret_cast<const char*>(p);
  site::unroll<(Words * W * static_cast<int>(sizeof(F)) + 63) / 64>([&](auto line) QUARKSTAR_INLINE_LAMBDA {
    if constexpr (Level == 1) ask_for_line(from + 64 * line);
    else __builtin_prefetch(from + 64 * line, 0, 2);
  });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
