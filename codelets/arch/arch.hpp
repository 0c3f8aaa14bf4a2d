#pragma once
// Inside a *_kernel.cpp: the architecture that this copy is compiled for. A new one is one file here and one CMake line.
#ifndef QUARKSTAR_ARCH_HEADER
#error "kernels are compiled once per architecture (cmake/architectures.cmake)"
#endif
#include QUARKSTAR_ARCH_HEADER
