#include "codelets/lattice/lane_grid.hpp"

#include "runtime/graph/session.hpp"

#include <algorithm>

namespace quarkstar {
namespace {

int usual_lanes(Precision precision) {
  const int bytes = runtime::Session::is_running() ? runtime::Session::current().lane_bytes() : 64;
  return bytes / static_cast<int>(computed_bytes(precision));
}

}  // namespace

LaneGrid choose_lane_grid(const runtime::Decomposition& decomposition, Precision precision, const LayoutRequest& layout) {
  if (layout.vectors_in_lanes > 1) return {};
  std::array<bool, 4> splittable{};
  int directions = 0;
  for (int mu = 0; mu < 4; ++mu) {
    splittable[mu] = std::all_of(decomposition.blocks().begin(), decomposition.blocks().end(), [&](const runtime::Block& block) {
      return block.extents[mu] % (2 * layout.unit[mu]) == 0 && block.extents[mu] / 2 >= layout.reach;
    });
    directions += splittable[mu] ? 1 : 0;
  }
  // Widths with kernels of their own; anything narrower runs lane by lane.
  constexpr int single_widths[] = {16, 8}, double_widths[] = {8, 4};
  const int most = layout.most_lanes.value_or(usual_lanes(precision));
  int lanes = 1;
  for (const int width : precision == Precision::double_ ? double_widths : single_widths)
    if (width <= (1 << directions) && width <= most) {
      lanes = width;
      break;
    }
  LaneGrid grid;
  for (int mu = 0; mu < 4 && grid.lanes < lanes; ++mu)
    if (splittable[mu]) {
      grid.stride[mu] = grid.lanes;
      grid.lanes *= 2;
    }
  return grid;
}

}  // namespace quarkstar
