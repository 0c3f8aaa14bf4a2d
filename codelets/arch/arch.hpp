#pragma once
// Inside a *_kernel.cpp: the architecture that this copy is compiled for. A new one is one file here and one CMake line.
#if defined(QUARKSTAR_ARCH_SCALAR)
#include "codelets/arch/scalar.hpp"
#elif defined(QUARKSTAR_ARCH_AVX2)
#include "codelets/arch/avx2.hpp"
#elif defined(QUARKSTAR_ARCH_AVX512)
#include "codelets/arch/avx512.hpp"
#else
#error "kernels are compiled once per architecture (cmake/architectures.cmake)"
#endif
