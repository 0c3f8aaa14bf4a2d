#pragma once
// What lies on a face of a block: a block of W lanes shows those whose bit `stride` ends at the edge (half of them), or
// all of them in a direction that is not split (stride 0). A position of a face is [number][face lane].
#include "codelets/arch/lanes.hpp"

#include <cstddef>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Lanes of a face.
template <int W>
constexpr int face_lanes(int stride) {
  return stride == 0 ? W : W / 2;
}

/// `edge` in the lanes of a register whose bit S (0 < S < VL) ends at the edge that is looked at, else `inside`.
template <int S, class V>
inline __attribute__((always_inline)) V on_edge_lanes(const V& inside, const V& edge, bool forward) {
  return forward ? inside.template select<S, 1>(edge) : inside.template select<S, 0>(edge);
}

/// Whether the lanes from lane0 on are on the edge, where a direction's stride does not lie within a register: all of
/// them are, or none.
inline bool group_on_edge(int stride, bool forward, int lane0) { return stride == 0 || ((lane0 & stride) != 0) == forward; }

/// Puts the numbers of one position of a face into those lanes of h, which begins at lane0, that are on the edge. S:
/// the stride where it lies within a register, else 0.
template <int S, int W, int Numbers, class V, class T>
inline __attribute__((always_inline)) void merge_face(V (&h)[Numbers], const T* position, int stride, bool forward, int lane0) {
  const int width = face_lanes<W>(stride);
  if constexpr (S > 0) {
    for (int c = 0; c < Numbers; ++c) h[c] = on_edge_lanes<S>(h[c], V::template load_half<S>(position + c * width + lane0 / 2), forward);
  } else if (group_on_edge(stride, forward, lane0)) {
    const int first = stride == 0 ? lane0 : face_lane(lane0, stride);
    for (int c = 0; c < Numbers; ++c) h[c] = V::load(position + c * width + first);
  }
}

/// Whether none of the lanes from lane0 on is on the face.
template <int VL, bool Forward>
inline bool misses_face(int stride, int lane0) {
  return stride >= VL && ((lane0 & stride) != 0) == Forward;
}

/// Writes one position of a face that a reader in direction +mu (forward) or -mu looks at: of the VL lanes from lane0
/// on those at the near edge. component(c): the complex numbers, or pairs of stored words, for c = 0, 1, ... Not where misses_face().
template <int W, int VL, int Components, bool Forward, class T, class Component>
inline __attribute__((always_inline)) void store_face(T* position, int stride, int lane0, Component&& component) {
  constexpr int bit = Forward ? 0 : 1;  // a reader that looks forward needs our lower half
  const int width = face_lanes<W>(stride);
  with_stride<VL>(stride, [&](auto s) QUARKSTAR_INLINE_LAMBDA {
    constexpr int S = s;
    site::unroll<Components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const auto z = component(c);
      if constexpr (S > 0) {
        z.re.template store_half<S, bit>(position + 2 * c * width + lane0 / 2);
        z.im.template store_half<S, bit>(position + (2 * c + 1) * width + lane0 / 2);
      } else {
        const int first = stride == 0 ? lane0 : face_lane(lane0, stride);
        z.re.store(position + 2 * c * width + first);
        z.im.store(position + (2 * c + 1) * width + first);
      }
    });
  });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
