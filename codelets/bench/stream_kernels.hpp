#pragma once
#include "codelets/arch/dispatch.hpp"

#include <cstdint>

namespace quarkstar {
namespace bench {

/// Enough to hide the latency of a fused multiply-add on two units, in sixteen registers.
inline constexpr int fused_chains = 12;

/// One thread's share of each pass: elements [begin, end), both multiples of 8.
struct StreamKernels {
  void (*triad)(double* a, const double* b, const double* c, double s, std::int64_t begin, std::int64_t end);
  void (*triad_streaming)(double* a, const double* b, const double* c, double s, std::int64_t begin, std::int64_t end);
  void (*copy_streaming)(double* a, const double* b, std::int64_t begin, std::int64_t end);
  double (*read)(const double* a, std::int64_t begin, std::int64_t end);
  double (*fused_double)(
      std::int64_t steps);  ///< fused_chains independent chains of fused multiply-adds of whole registers, each `steps` long
  double (*fused_single)(std::int64_t steps);
  int lanes_double, lanes_single;  ///< numbers of a register
};

}  // namespace bench

#define QUARKSTAR_DECLARE_STREAM(architecture) \
  namespace architecture {                     \
  bench::StreamKernels stream_kernels();       \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_STREAM)
#undef QUARKSTAR_DECLARE_STREAM

}  // namespace quarkstar
