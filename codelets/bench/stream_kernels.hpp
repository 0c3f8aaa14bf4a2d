#pragma once
#include <cstdint>

#include "codelets/arch/dispatch.hpp"

namespace quarkstar {
namespace bench {

/// One thread's share of each pass: elements [begin, end), both multiples of 8.
struct StreamKernels {
  void (*triad)(double* a, const double* b, const double* c, double s, std::int64_t begin, std::int64_t end);
  void (*triad_streaming)(double* a, const double* b, const double* c, double s, std::int64_t begin, std::int64_t end);
  void (*copy_streaming)(double* a, const double* b, std::int64_t begin, std::int64_t end);
  double (*read)(const double* a, std::int64_t begin, std::int64_t end);
};

}  // namespace bench

#define QUARKSTAR_DECLARE_STREAM(architecture) \
  namespace architecture {                     \
  bench::StreamKernels stream_kernels();       \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_STREAM)
#undef QUARKSTAR_DECLARE_STREAM

}  // namespace quarkstar
