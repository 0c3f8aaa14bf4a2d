#pragma once
// Fills an arch::KernelTable with the copies of one function that this build has. The function must be declared in the namespace of
// every architecture; those that are not compiled in are never referred to.
#include "codelets/arch/dispatch.hpp"

#ifdef QUARKSTAR_HAVE_AVX2
#define QUARKSTAR_IF_AVX2(...) avx2::__VA_ARGS__
#else
#define QUARKSTAR_IF_AVX2(...) nullptr
#endif
#ifdef QUARKSTAR_HAVE_AVX512
#define QUARKSTAR_IF_AVX512(...) avx512::__VA_ARGS__
#else
#define QUARKSTAR_IF_AVX512(...) nullptr
#endif
#define QUARKSTAR_KERNEL_TABLE(...) \
  { { scalar::__VA_ARGS__, QUARKSTAR_IF_AVX2(__VA_ARGS__), QUARKSTAR_IF_AVX512(__VA_ARGS__) } }
