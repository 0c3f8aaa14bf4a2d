#pragma once
// AVX2 with FMA: 32-byte registers.
#include "codelets/arch/x86_fma.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 32 / sizeof(T);
inline constexpr int vector_registers = 16;

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
