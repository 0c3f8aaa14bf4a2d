#pragma once
// Where the words of a site or link are stored: one rule for host tables and GPU kernels.
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::site {

/// Place of word w of one lane in a site or link that has `words` words in each of `lanes` lanes. side_by_side: words of a lane that lie
/// next to each other; 1: [word][lane]; 2: pairs, the usual word by word where the number is odd for its first one,
///   [words % 2][lane] [words / 2][lane][2],
/// which a GPU reads with half as many loads (one H200: 3 to 20 % faster, docs/results). Fields whose blocks are all on GPUs may have it.
QUARKSTAR_HD int word_place(int w, int lane, int words, int lanes, int side_by_side) {
  const int alone = words % side_by_side, rest = w - alone;
  if (rest < 0) return w * lanes + lane;
  return (alone + rest / side_by_side * side_by_side) * lanes + lane * side_by_side + rest % side_by_side;
}

}  // namespace quarkstar::site
