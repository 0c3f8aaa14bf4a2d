#pragma once
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/precision.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace quarkstar::kernels {

/// Calls body with each architecture of this machine in use, then restores the choice.
template <class Body>
void for_architectures(Body&& body) {
  const arch::Architecture chosen = arch::current();
  for (const arch::Architecture architecture : arch::available()) {
    arch::force(architecture);
    INFO("architecture " << std::string(arch::name_of(architecture)));
    body();
  }
  arch::force(chosen);
}

/// Lanes of blocks that kernels are made for.
inline std::vector<int> lane_counts(Precision precision) {
  return precision == Precision::double_ ? std::vector<int>{8, 4, 1} : std::vector<int>{16, 8, 1};
}

}  // namespace quarkstar::kernels
