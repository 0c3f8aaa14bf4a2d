#pragma once
// AVX2 with FMA: 32-byte registers.
#include "codelets/arch/x86_fma.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 32 / sizeof(T);
inline constexpr int vector_registers = 16;
/// Lanes of a line would be two registers: a kernel would go over a site twice, and its lines, 18 KB with all neighbours, would have to stay in
/// the first-level cache (docs/results/2026-11-23-avx2-lanes.md).
inline constexpr int layout_bytes = 32;

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
