#pragma once
// On CPUs, where the vectors of a hop's neighbour are, what becomes of them at the edge of a virtual node or of the
// block, and how a link is read.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/actions/staggered/staggered_site.hpp"
#include "codelets/arch/faces.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/prefetch.hpp"
#include "codelets/lattice/neighbour_entry.hpp"

#include <cstddef>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// A link whose numbers, Stride apart, are loaded where they are multiplied: kept, they would not fit into registers
/// beside the results, and the compiler would store them, and load them, too. Held: each is loaded once for its two
/// products, which is fastest where numbers come from the cache; otherwise loads are parts of the multiplications, so
/// that a processor that waits for memory sees more of them at a time.
template <class V, int Stride, bool Held>
struct StoredLink {
  using T = typename V::Number;
  struct Row {
    const T* p;
    inline __attribute__((always_inline)) site::Complex<V> operator[](int column) const {
      site::Complex<V> z{V::load(p + 2 * column * Stride), V::load(p + (2 * column + 1) * Stride)};
      if constexpr (Held) {
        hold_in_register(z.re.v);
        hold_in_register(z.im.v);
      }
      return z;
    }
  };
  const T* p;
  inline __attribute__((always_inline)) Row operator[](int row) const { return {p + 6 * row * Stride}; }
  /// The compiler must not know that the next loads give the same.
  inline __attribute__((always_inline)) void again() { asm volatile("" : "+r"(p)); }
};

/// A link in registers, for all vectors. Read column by column, as a stored one, it leaves room for the results.
template <class V>
struct HeldLink {
  site::Link<V> numbers;
  inline __attribute__((always_inline)) const site::Complex<V> (&operator[](int row) const)[3] { return numbers[row]; }
  /// Before each vector: nothing but the numbers themselves is kept.
  inline __attribute__((always_inline)) void again() {
    site::unroll<9>([&](auto i) QUARKSTAR_INLINE_LAMBDA { hold_in_register(numbers[i / 3][i % 3].im.v); });
  }
};

/// W: lanes of the block; VL: of a register.
template <class F, int W, int VL>
struct ColourNeighbours {
  using T = Real<F>;
  using V = Pack<T, VL>;
  static constexpr int vector_words = staggered::vector_words<F>;
  static_assert(sizeof(F) == sizeof(T));  // a stored word moves as a number
  static constexpr std::uint32_t crosses = neighbour_entry::exchange | neighbour_entry::face;
  const staggered::DslashArguments<F>& a;
  std::int64_t position;  ///< in the list of sites

  /// Vectors of the outer site that an entry names.
  inline __attribute__((always_inline)) const F* vectors_at(std::uint32_t entry) const {
    const std::size_t at = static_cast<std::size_t>(entry >> neighbour_entry::shift) * static_cast<std::size_t>(a.vectors);
    return a.in + at * (vector_words * W);
  }
  /// First of the lanes that come to lane0: another one where the hop exchanges registers.
  inline __attribute__((always_inline)) int lane_from(std::uint32_t entry, int d, int lane0) const {
    if constexpr (W > VL)
      if ((entry & neighbour_entry::exchange) != 0 && a.stride[d / 2] >= VL) return lane0 ^ a.stride[d / 2];
    return lane0;
  }

  /// A vector where a hop crosses the edge of a virtual node or of the block: `to` becomes its stored words for VL lanes. S: the
  /// direction's stride where it lies within a register, else 0.
  template <int S>
  inline __attribute__((always_inline)) void cross(F* to, std::uint32_t entry, const std::uint32_t* faces_at, int d, int lane0,
                                                   int vector) const {
    const T* const from = reinterpret_cast<const T*>(vectors_at(entry) + vector * (vector_words * W) + lane_from(entry, d, lane0));
    V words[vector_words];
    for (int w = 0; w < vector_words; ++w) words[w] = V::load(from + w * W);
    if constexpr (S > 0)
      if ((entry & neighbour_entry::exchange) != 0)
        for (V& word : words) word = word.template exchange<S>();
    if ((entry & neighbour_entry::face) != 0) {
      const std::size_t at =
          static_cast<std::size_t>(faces_at[position * 8 + d]) * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(vector);
      const int stride = a.stride[d / 2], width = face_lanes<W>(stride);
      merge_face<S, W>(words, a.faces[d] + at * static_cast<std::size_t>(vector_words * width), stride, d % 2 == 0, lane0);
    }
    for (int w = 0; w < vector_words; ++w) words[w].store(reinterpret_cast<T*>(to) + w * VL);
  }
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
