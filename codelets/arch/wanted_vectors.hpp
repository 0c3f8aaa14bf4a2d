#pragma once
// Which of the vectors of a task a CPU kernel computes.
#include "codelets/arch/arch.hpp"

#include <cstdint>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// The vectors whose results somebody needs, of `Most` at most. left_out: nullptr, or for each vector non-zero where nobody does.
template <int Most>
struct WantedVectors {
  int count = 0;
  int vector[Most];
  WantedVectors(const std::int32_t* left_out, int vectors) {
    for (int v = 0; v < vectors; ++v)
      if (left_out == nullptr || left_out[v] == 0) vector[count++] = v;
  }
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
