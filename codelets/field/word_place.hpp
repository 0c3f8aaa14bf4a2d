#pragma once
// Where the words of a site or link are stored: one rule for host tables and GPU kernels.
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::site {

/// Place of word w of one lane in a site or link of so many lanes. side_by_side: words of a lane that lie next to each other; 1:
/// [word][lane]; 2: pairs, [words / 2][lane][2], which a GPU reads with half as many loads (one H200, several right-hand sides: 10 to 20 %
/// faster; docs/results). Fields in single and double precision whose blocks are all on GPUs may have it.
QUARKSTAR_HD int word_place(int w, int lane, int lanes, int side_by_side) {
  return w / side_by_side * side_by_side * lanes + lane * side_by_side + w % side_by_side;
}

}  // namespace quarkstar::site
