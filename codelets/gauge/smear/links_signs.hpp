#pragma once
// What the signs of a staggered operator's links tell about the conventions behind them.
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/team.hpp"

#include <array>

namespace quarkstar::smear {

/// Means over a lattice of Re tr(A B^+) / (|A| |B|) with |A|^2 = tr A A^+, which lie between -1 and 1 and depend on no
/// gauge. Staggered phases multiply every plaquette by -1, whatever their order of directions. A long link has the
/// phases of the three fat links along it, staggered and boundary's, and a negative weight.
struct LinksSigns {
  double plaquette = 0;          ///< A = X_mu(x) X_nu(x+mu), B = X_nu(x) X_mu(x+nu): negative with staggered phases
  double line = 0;               ///< A = N_mu(x), B = X_mu(x) X_mu(x+mu) X_mu(x+2mu): negative where N and X belong together
  std::array<double, 4> edge{};  ///< the same of the hops in each direction that cross the lattice's edge
};

/// Means over the whole lattice, of which `links`, with long links, hold this rank's part and of the fat ones two
/// layers behind it (with_border()); where the part is not all, every rank calls. The bits depend on no cut. Cost: 6.3
/// kflop per site. team: whose threads work.
LinksSigns signs_of(const StaggeredLinks& links, const Coord& lattice, const Box& part, const runtime::Team& team);

/// Of links of the whole lattice.
inline LinksSigns signs_of(const StaggeredLinks& links, const runtime::Team& team) {
  return signs_of(links, links.fat.extents, {{}, links.fat.extents}, team);
}

}  // namespace quarkstar::smear
