#pragma once
// How a block is split over the lanes of a vector register.
#include "codelets/field/precision.hpp"
#include "runtime/cut/decomposition.hpp"

#include <array>
#include <optional>

namespace quarkstar {

/// A block is cut into 2^k equal virtual nodes, one a lane: direction mu in two where stride[mu] != 0. The lane of a site is the
/// sum of the strides of those directions in which it lies in the upper half. Neighbours then sit in the same lane of another
/// outer site, but for an exchange of lanes l <-> l ^ stride[mu] where a hop crosses from one half to the other.
struct LaneGrid {
  int lanes = 1;
  std::array<int, 4> stride{};
  bool splits(int mu) const { return stride[mu] != 0; }
  friend bool operator==(const LaneGrid&, const LaneGrid&) = default;
};

/// What a layout should be like, beyond the rules.
struct LayoutRequest {
  std::optional<int> most_lanes{};  ///< fewer lanes of sites, for experiments and tests
  int reach = 1;                    ///< the longest hop along a direction: 1, or 3 for improved staggered fermions
  Coord tile{};                     ///< wanted extents of a tile of outer sites (BlockShape), 0: no limit; an order in memory, no result
  Coord unit{2, 2, 2, 2};           ///< half a block is a whole number of these along a direction that is split; even. For Schwarz domains
  int vectors_in_lanes = 1;         ///< lanes hold so many vectors instead of sites: 16 or 8 of a colour field on CPUs (8 in double
                                    ///< precision), 16, 12 or 8 spinors on GPUs; with slices all of these, of one vector
  int slices = 1;                   ///< of a fifth dimension: so many spinors are a vector of a site
};

/// The same grid for every block of a decomposition, so that neighbouring blocks agree on the lanes of a face. A direction can
/// be split when every block's extent along it is a multiple of 4 (both halves then keep the parity of the whole), or of twice the unit.
/// Neither half may be thinner than the layout's reach, so that a hop leaves at most one of them.
/// Lanes: 16 or 8 in half and single precision, 8 or 4 in double (64 or 32 bytes), else 1; at most most_lanes, by default as many as the
/// session's Session::lane_bytes() hold. Directions are taken in the order x, y, z, t: time is cut most often, and a cut direction that is
/// not split has half the boundary.
/// One lane where the layout has vectors in lanes.
LaneGrid choose_lane_grid(const runtime::Decomposition& decomposition, Precision precision, const LayoutRequest& layout = {});

}  // namespace quarkstar
