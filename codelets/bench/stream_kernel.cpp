#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"
#include "codelets/bench/stream_kernels.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

using V = Pack<double, native_lanes<double>>;
constexpr int step = V::lanes;

template <bool Streaming>
void triad(double* a, const double* b, const double* c, double s, std::int64_t begin, std::int64_t end) {
  const V scale = V::broadcast(s);
  for (std::int64_t i = begin; i < end; i += step) {
    const V result = fma(scale, V::load(c + i), V::load(b + i));
    if constexpr (Streaming) result.stream(a + i);
    else result.store(a + i);
  }
}

void copy(double* a, const double* b, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; i += step) V::load(b + i).stream(a + i);
}

double read(const double* a, std::int64_t begin, std::int64_t end) {
  constexpr int chains = 8 / step > 4 ? 8 / step : 4;  // enough independent additions to hide their latency
  V sums[chains];
  for (V& sum : sums) sum = V::broadcast(0);
  std::int64_t i = begin;
  for (; i + chains * step <= end; i += chains * step)
    for (int k = 0; k < chains; ++k) sums[k] = sums[k] + V::load(a + i + k * step);
  for (; i < end; i += step) sums[0] = sums[0] + V::load(a + i);
  double total = 0;
  for (const V& sum : sums) {
    double lanes[step];
    sum.store(lanes);
    for (const double lane : lanes) total += lane;
  }
  return total;
}

template <class T>
double fused(std::int64_t steps) {
  using P = Pack<T, native_lanes<T>>;
  const P a = P::broadcast(static_cast<T>(0.75)), b = P::broadcast(static_cast<T>(0.25));  // x -> 1: never subnormal
  P x[bench::fused_chains];
  site::unroll<bench::fused_chains>([&](auto k) QUARKSTAR_INLINE_LAMBDA { x[k] = P::broadcast(static_cast<T>(1 + k)); });
  for (std::int64_t i = 0; i < steps; ++i)
    site::unroll<bench::fused_chains>([&](auto k) QUARKSTAR_INLINE_LAMBDA { x[k] = fma(a, x[k], b); });
  site::unroll<bench::fused_chains - 1>([&](auto k) QUARKSTAR_INLINE_LAMBDA { x[0] = x[0] + x[k + 1]; });
  T lanes[P::lanes];
  x[0].store(lanes);
  return static_cast<double>(lanes[0]);
}

}  // namespace

bench::StreamKernels stream_kernels() {
  return {triad<false>, triad<true>, copy, read, fused<double>, fused<float>, native_lanes<double>, native_lanes<float>};
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
