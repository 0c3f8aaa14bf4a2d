#include "codelets/gauge/smear/region.hpp"

#include "codelets/gauge/smear/staggered_links.hpp"

#include <algorithm>

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

Region region_for(const runtime::Session& session, const runtime::Decomposition& decomposition, const Border& border) {
  if (!decomposition.is_distributed()) return decomposition;
  const Coord& lattice = decomposition.lattice();
  const Coord extents = thin_links_box(decomposition.part(), lattice, border).extents;
  const int workers = session.block_owners();
  return {lattice, decomposition.part(), border, {1, 1, 1, std::clamp(workers, 1, std::max(1, extents[3] / 2))}, workers};
}

}  // namespace quarkstar::smear
