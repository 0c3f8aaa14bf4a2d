#pragma once
// AVX2 with FMA: 32-byte registers.
#include "codelets/arch/x86_fma.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 32 / sizeof(T);
inline constexpr int vector_registers = 16;
/// Lanes of a line would be two registers: a kernel would go over a site twice, and its lines, 18 KB with all neighbours, would have to
/// stay in the first-level cache (docs/results/2026-11-23-avx2-lanes.md).
inline constexpr int layout_bytes = 32;

/// Lines are asked for in order: the processor's own prefetch follows streams, and loses one whose lines it sees in the order in which a
/// compiler mixes them with other loads (docs/results/2026-11-23-avx2-wilson.md).
/// Not by an operand in memory, which would be a read of what may have been stored. clang does not take this operand; there the general one
/// is used.
#ifndef __clang__
inline __attribute__((always_inline)) void ask_for_line(const char* p) { asm volatile("prefetcht0 %a0" : : "p"(p)); }
#endif

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
