#pragma once
// How many threads of the staggered Dslash a GPU has registers for.

namespace quarkstar::staggered {

/// Threads of a block, and blocks of a multiprocessor that registers must leave room for. The compiler keeps as many
/// loads in flight as registers allow, and these kernels wait for memory: fewer threads with more loads each are faster
/// (measured; docs/results/).
struct Room {
  int threads, blocks;
};

/// Of the kernel whose threads take `count` right-hand sides.
constexpr Room room_of(bool is_double, bool is_half, int count) {
  if (is_double) return count == 1 ? Room{128, 3} : count == 4 ? Room{256, 1} : Room{128, 2};
  return count == 1 ? Room{128, 4} : count == 4 || (count == 8 && !is_half) ? Room{256, 2} : Room{128, 3};
}

}  // namespace quarkstar::staggered
