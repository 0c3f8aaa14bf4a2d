#include "codelets/gauge/smear/region.hpp"

#include "codelets/gauge/smear/staggered_links.hpp"

namespace quarkstar::smear {

Box thin_links_box(const Box& part, const Coord& lattice, const Border& border) {
  Box box = with_border(part, lattice, border.before, border.behind);
  for (int mu = 0; mu < 4; ++mu) {
    box.extents[mu] += box.extents[mu] % 2;
    if (box.extents[mu] == lattice[mu]) box.origin[mu] = 0;
  }
  return box;
}

Region::Region(const runtime::Decomposition& whole) : Part(whole), fat(box), far(box) {}

Region::Region(const Coord& whole, const Box& part, const Border& border, const Coord& grid, int workers)
    : Part({thin_links_box(part, whole, border).extents, grid, workers}, whole, thin_links_box(part, whole, border)),
      fat(hops_box(part, whole, longest_hop(false))),
      far(hops_box(part, whole, longest_hop(true))),
      is_part(true) {}

}  // namespace quarkstar::smear
