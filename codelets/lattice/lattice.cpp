#include "codelets/lattice/lattice.hpp"

#include "runtime/error.hpp"

namespace quarkstar {

void Lattice::require_part(const char* where, const Box& box, int before) const {
  const Coord& all = decomposition_.lattice();
  const Box part = decomposition_.part();
  for (int mu = 0; mu < 4; ++mu) {
    if (box.extents[mu] == all[mu]) continue;
    const int layers = part.extents[mu] < all[mu] ? before : 0;
    const int start = (part.origin[mu] - layers - box.origin[mu] + 2 * all[mu]) % all[mu];
    if (box.extents[mu] > all[mu] || start + layers + part.extents[mu] > box.extents[mu])
      throw ShapeError(where, "the host field does not hold this rank's part of the lattice");
  }
}

}  // namespace quarkstar
