#pragma once
// Fills an arch::KernelTable with the copies of one function that this build has. The function must be declared in the namespace of
// every architecture (QUARKSTAR_FOR_ARCHITECTURES).
#include "codelets/arch/dispatch.hpp"
#include "quarkstar_built_architectures.hpp"

#define QUARKSTAR_TABLE_ENTRY(architecture, ...) QUARKSTAR_BUILT_##architecture(architecture::__VA_ARGS__),
#define QUARKSTAR_KERNEL_TABLE(...)                                     \
  {                                                                     \
    { QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_TABLE_ENTRY, __VA_ARGS__) } \
  }
