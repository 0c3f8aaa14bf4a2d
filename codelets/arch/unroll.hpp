#pragma once
#include "runtime/gpu/host_device.hpp"

#include <type_traits>
#include <utility>

namespace quarkstar::site {

template <int I>
using Index = std::integral_constant<int, I>;

template <class Body, int... I>
QUARKSTAR_HD void unroll_over(std::integer_sequence<int, I...>, Body&& body) {
  (body(Index<I>{}), ...);
}

/// body(Index<0>), ..., body(Index<N-1>), written out: components must live in registers, so their indices must be constants.
template <int N, class Body>
QUARKSTAR_HD void unroll(Body&& body) {
  unroll_over(std::make_integer_sequence<int, N>{}, static_cast<Body&&>(body));
}

}  // namespace quarkstar::site

/// Lambdas inside kernels: inline whatever their size.
#ifdef __CUDACC__
#define QUARKSTAR_INLINE_LAMBDA
#else
#define QUARKSTAR_INLINE_LAMBDA __attribute__((always_inline))
#endif
