#pragma once
// The Wilson hopping term at one site, written once for every architecture.
#include "codelets/spin/spin.hpp"
#include "codelets/su3/link.hpp"

namespace quarkstar::wilson {

/// h = projection for a hop along Mu of the spinor stored at p, in half precision in units: integers are projected, exactly. Returns what
/// they are to be multiplied by, the units of the site and of the link that they will meet (other precisions: nothing of use). 12 additions
/// per lane, in half precision one product.
template <class F, int Mu, int Projector, class Loads, class V>
QUARKSTAR_HD V read_projected_integers(site::HalfSpinor<V>& h, const F* p, int lanes) {
  const site::SiteReader<F, V, Loads> stored(p, lanes);
  site::Spinor<V> psi;
  site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { psi[c / 3][c % 3] = stored.raw(c); });
  site::project<Mu, Projector>(h, psi);
  if constexpr (is_half<F>) return stored.unit * V::broadcast(site::link_unit);
  else return V::broadcast(1);
}

/// The same times the units. In half precision 12 products more.
template <class F, int Mu, int Projector, class Loads, class V>
QUARKSTAR_HD void read_projected(site::HalfSpinor<V>& h, const F* p, int lanes) {
  const V unit = read_projected_integers<F, Mu, Projector, Loads>(h, p, lanes);
  if constexpr (is_half<F>)
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c / 3][c % 3] = {h[c / 3][c % 3].re * unit, h[c / 3][c % 3].im * unit}; });
}

/// The projector of a hop in direction D: (1 + projector gamma_mu).
constexpr int projector_of(int direction, int sign) { return direction % 2 == 1 ? sign : -sign; }

/// r += all four rows of U h or, for hops backward, U^+ h, where h is the projected neighbour in direction D. sign: nothing, or a number 1
/// or -1 that multiplies Sign.
template <int D, int Sign, class V, class... Number>
QUARKSTAR_HD void add_hop(site::Spinor<V>& r, const site::Link<V>& u, const site::HalfSpinor<V>& h, Number... sign) {
  site::unroll<3>([&](auto colour) QUARKSTAR_INLINE_LAMBDA {
    const site::Complex<V> upper0 = site::row_times<D % 2 == 1>(u, colour, h[0]);
    const site::Complex<V> upper1 = site::row_times<D % 2 == 1>(u, colour, h[1]);
    site::reconstruct_add<D / 2, projector_of(D, Sign), D == 0>(r, colour, upper0, upper1, sign...);
  });
}

/// Adds one of the eight directions (2 mu: forward, 2 mu + 1: backward):
///   r += (1 -+ Sign gamma_mu) U psi(x +- mu).
/// Neighbour supplies, for a direction D,  half_spinor<D>(h): the projected neighbour with lanes moved, faces merged and boundary
/// phases applied;  link<D>(u): U_mu(x) forward, U_mu(x - mu) backward.
/// Sign = +1: H; Sign = -1: its adjoint gamma5 H gamma5.
template <int D, int Sign, class V, class Neighbour>
QUARKSTAR_HD void add_direction(site::Spinor<V>& r, Neighbour& neighbour) {
  site::HalfSpinor<V> h;
  neighbour.template half_spinor<D, projector_of(D, Sign)>(h);
  site::Link<V> u;
  neighbour.template link<D>(u);
  add_hop<D, Sign>(r, u, h);
}

/// r = sum over the eight directions, always in the same order. 1320 flop per lane.
template <int Sign, class V, class Neighbour>
QUARKSTAR_HD void hopping_term(site::Spinor<V>& r, Neighbour& neighbour) {
  site::unroll<8>([&](auto direction) QUARKSTAR_INLINE_LAMBDA { add_direction<direction, Sign>(r, neighbour); });
}

}  // namespace quarkstar::wilson
