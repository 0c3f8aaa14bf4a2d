#pragma once
// What surrounds a link: the staples of its six plaquettes.
#include "codelets/gauge/block_links.hpp"

namespace quarkstar::gauge {

/// A with sum over the six plaquettes at U_mu(p) of Re tr U_p = Re tr(U_mu(p) A):
/// A = sum_{nu != mu} U_nu(p+mu) U_mu^+(p+nu) U_nu^+(p) + U_nu^+(p+mu-nu) U_mu^+(p-nu) U_nu(p-nu).
/// Border 1. 2484 flop, 18 links read. Directions: nu below it alone; 3: those in space.
template <int Directions = 4, class V>
QUARKSTAR_HD Link<V> staple_sum(const StridedLinks<V>& links, std::ptrdiff_t p, int mu) {
  Link<V> sum{};
  const std::ptrdiff_t ahead = p + links.stride(mu);
  for (int nu = 0; nu < Directions; ++nu) {
    if (nu == mu) continue;
    const std::ptrdiff_t n = links.stride(nu);
    sum = sum + multiply_adjoint(multiply_adjoint(links.load(ahead, nu), links.load(p + n, mu)), links.load(p, nu));
    sum = sum + adjoint_multiply(multiply(links.load(p - n, mu), links.load(ahead - n, nu)), links.load(p - n, nu));
  }
  return sum;
}

}  // namespace quarkstar::gauge
