#pragma once
#include <cstdio>

#include "runtime/cuda.hpp"

/// GPU cases end here on a machine without one, and say so.
#define QUARKSTAR_NEEDS_GPU(name)                       \
  if (quarkstar::runtime::gpus().empty()) {             \
    std::printf("SKIPPED %s: no GPU\n", name);          \
    return;                                             \
  }
