#pragma once
// Lanes of a block and lanes of a vector register: which counts there are kernels for, and run-time strides made constants.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"

#include <type_traits>
#include <utility>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Calls body(Index<stride>) for a run-time stride within a vector of VL lanes; Index<0> when the stride is not inside it.
template <int VL, class Body>
inline __attribute__((always_inline)) void with_stride(int stride, Body&& body) {
  if constexpr (VL > 1)
    if (stride == 1) return body(site::Index<1>{});
  if constexpr (VL > 2)
    if (stride == 2) return body(site::Index<2>{});
  if constexpr (VL > 4)
    if (stride == 4) return body(site::Index<4>{});
  if constexpr (VL > 8)
    if (stride == 8) return body(site::Index<8>{});
  body(site::Index<0>{});
}

/// The lane with bit `stride` taken out: its place among the lanes of a face.
constexpr int face_lane(int lane, int stride) { return (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1)); }

/// Lane counts of blocks that kernels of a format are made for; the vector width for a block of W lanes.
template <class F>
using LaneCounts = std::conditional_t<sizeof(Real<F>) == 8, std::integer_sequence<int, 8, 4, 1>, std::integer_sequence<int, 16, 8, 1>>;
template <class F, int W>
inline constexpr int vector_lanes = W < native_lanes<Real<F>> ? W : native_lanes<Real<F>>;

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
