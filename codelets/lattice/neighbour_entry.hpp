#pragma once
#include <cstdint>

namespace quarkstar {

/// An entry of the neighbour table: outer site times 8, plus flags.
namespace neighbour_entry {
inline constexpr std::uint32_t exchange = 1;  ///< lanes l and l ^ stride[mu] change places
inline constexpr std::uint32_t face = 2;      ///< lanes on the block's edge take the neighbouring block's face instead
inline constexpr std::uint32_t phase = 4;     ///< lanes on the lattice's edge take the boundary phase
inline constexpr int shift = 3;
}  // namespace neighbour_entry

}  // namespace quarkstar
