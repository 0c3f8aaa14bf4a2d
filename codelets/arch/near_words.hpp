#pragma once
// Addresses that make short instructions.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"

#include <algorithm>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// `Words` words of W lanes from p on, by pointers that reach all of them with displacements of one byte. An instruction of x86 with four
/// bytes of displacement is nearly twice as long; a kernel that is unrolled over eight directions then does not fit the processor's
/// cache of decoded instructions. (Those of AVX-512 count displacements in registers; one pointer then reaches everything.) The compiler
/// must not know what the pointers have in common, or it would use one of them for all. Where lines are asked for in order
/// (ask_for_line()), reads of the words come after what was asked for before.
template <class F, int W, int Words>
class NearWords {
  static constexpr int word_bytes = W * static_cast<int>(sizeof(F)), near_bytes = vector_registers < 32 ? 128 : 128 * 64;
  static constexpr int reach = word_bytes < near_bytes ? near_bytes / word_bytes : 1;  // words before a pointer, and from it on
  static constexpr int pointers = (Words + 2 * reach - 1) / (2 * reach);
  /// The word that pointer i points to; none is past the end.
  static constexpr int place(int i) { return std::min((2 * i + 1) * reach, Words); }

 public:
  explicit inline __attribute__((always_inline)) NearWords(F* p) {
    site::unroll<pointers>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      at_[i] = p + place(i) * W;
      asm volatile("" : "+r"(at_[i]));
    });
  }
  template <int I>
  inline __attribute__((always_inline)) F* word() const {
    static_assert(I >= 0 && I < Words);
    constexpr int i = I / (2 * reach);
    return at_[i] + (I - place(i)) * W;
  }

 private:
  F* at_[pointers > 0 ? pointers : 1];
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
