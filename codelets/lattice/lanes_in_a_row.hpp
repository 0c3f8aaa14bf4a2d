#pragma once
// Two layouts of one block: which lanes they have side by side.
#include "codelets/lattice/block_shape.hpp"

#include <algorithm>

namespace quarkstar {

/// The most lanes n, a power of two, that stay together: for every outer site of `a` and every lane l that is a multiple of n, the sites in
/// lanes l, l + 1, ... l + n - 1 are in as many lanes in a row of one outer site of `b`, whatever the tiles. All of them for equal grids; 8
/// between double and single precision where those have 8 and 16. a, b: shapes of blocks of equal extents and origin.
inline int lanes_in_a_row(const BlockShape& a, const BlockShape& b) {
  const auto splits_alike = [&](int stride) {
    for (int mu = 0; mu < 4; ++mu)
      if ((a.stride[mu] == stride) != (b.stride[mu] == stride)) return false;
    return true;
  };
  int lanes = 1;
  while (lanes < std::min(a.lanes, b.lanes) && splits_alike(lanes)) lanes *= 2;
  return lanes;
}

}  // namespace quarkstar
