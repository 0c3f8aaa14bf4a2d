#pragma once
// Sites of one parity of a block, their neighbours on the torus, and the staples around a link.
#include "codelets/su3/matrix.hpp"
#include "runtime/cut/coord.hpp"

#include <array>
#include <cstdint>

namespace quarkstar::heatbath {

/// A site as its lexicographic index in the lattice and the index steps to its eight neighbours.
struct Site {
  std::int64_t index;
  std::array<std::int64_t, 4> forward, backward;
};

inline Site site_at(const Coord& x, const Coord& lattice) {
  Site site{lexicographic(x, lattice), {}, {}};
  std::int64_t stride = 1;
  for (int mu = 0; mu < 4; ++mu) {
    site.forward[mu] = x[mu] + 1 < lattice[mu] ? stride : stride * (1 - lattice[mu]);
    site.backward[mu] = x[mu] > 0 ? -stride : stride * (lattice[mu] - 1);
    stride *= lattice[mu];
  }
  return site;
}

/// Coordinates of the k-th site of a parity (k < half the block's volume). The block's origin and extent in x are even.
inline Coord site_of_parity(std::int64_t k, int parity, const Coord& origin, const Coord& extents) {
  Coord x = coordinates(k, {extents[0] / 2, extents[1], extents[2], extents[3]});
  for (int mu = 1; mu < 4; ++mu) x[mu] += origin[mu];
  x[0] = origin[0] + 2 * x[0] + ((parity + x[1] + x[2] + x[3]) & 1);
  return x;
}

/// A with sum over the six plaquettes at U_mu(x) of Re tr U_p = Re tr(U_mu(x) A):
/// A = sum_{nu != mu} U_nu(x+mu) U_mu^+(x+nu) U_nu^+(x) + U_nu^+(x+mu-nu) U_mu^+(x-nu) U_nu(x-nu).
/// links: the whole lattice in the order of HostGauge. 2484 flop, 18 links read.
inline site::Link<double> staple_sum(const double* links, const Site& x, int mu) {
  const auto link = [links](std::int64_t index, int direction) { return site::read_link(links + (index * 4 + direction) * 18); };
  site::Link<double> sum{};
  const std::int64_t ahead = x.index + x.forward[mu];
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    sum = sum + multiply_adjoint(multiply_adjoint(link(ahead, nu), link(x.index + x.forward[nu], mu)), link(x.index, nu));
    const std::int64_t behind = x.index + x.backward[nu];
    sum = sum + adjoint_multiply(multiply(link(behind, mu), link(ahead + x.backward[nu], nu)), link(behind, nu));
  }
  return sum;
}

}  // namespace quarkstar::heatbath
