#pragma once
// Where the words of a site or link are stored: one rule for host tables and GPU kernels.
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::site {

/// Place of word w of a lane in a site or link of so many words and lanes. K = 1: [word][lane]. Else the first words % K words lie so, and
/// behind them the others as [chunk of K words][lane][word of the chunk].
QUARKSTAR_HD int word_place(int w, int lane, int words, int lanes, int k) {
  const int single = words % k, in_chunks = w - single;
  return in_chunks < 0 ? w * lanes + lane : single * lanes + (in_chunks / k * lanes + lane) * k + in_chunks % k;
}

}  // namespace quarkstar::site
