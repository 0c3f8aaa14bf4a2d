#pragma once
// What a step of minimal residual does at one site of a Schwarz domain, written once for CPUs and GPUs.
#include "codelets/actions/wilson/schwarz_arguments.hpp"
#include "codelets/actions/wilson/wilson_site.hpp"

#include <limits>

namespace quarkstar::wilson {

/// h = projection for a hop along Mu of the spinor whose components are component(c); in half precision also times the unit of the link
/// that it will meet.
template <class F, int Mu, int Projector, class V, class Component>
QUARKSTAR_HD void project_in_domain(site::HalfSpinor<V>& h, const Component& component) {
  site::Spinor<V> psi;
  site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { psi[c / 3][c % 3] = component(c); });
  site::project<Mu, Projector>(h, psi);
  if constexpr (is_half<F>)
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      site::Complex<V>& z = h[c / 3][c % 3];
      z = {z.re * V::broadcast(site::link_unit), z.im * V::broadcast(site::link_unit)};
    });
}

/// h = the sum of the hops to a site from those neighbours, given by add_direction()'s Neighbour and in their order, that are in the
/// domain.
template <class V, class Neighbour>
QUARKSTAR_HD void hops_in_domain(site::Spinor<V>& h, Neighbour& neighbour) {
  if (neighbour.entries[0] != outside_domain) add_direction<0, 1>(h, neighbour);
  else site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c / 3][c % 3] = {V::broadcast(0), V::broadcast(0)}; });
  site::unroll<7>([&](auto d) QUARKSTAR_INLINE_LAMBDA {
    if (neighbour.entries[d + 1] != outside_domain) add_direction<d + 1, 1>(h, neighbour);
  });
}

/// What a domain sums of A r, of one site or, in the order of its sites, of them all.
template <class V>
struct DomainSums {
  V norm = V::broadcast(0), dot_re = V::broadcast(0), dot_im = V::broadcast(0);  ///< |A r|^2, <A r, r>
  friend QUARKSTAR_HD DomainSums operator+(const DomainSums& a, const DomainSums& b) {
    return {a.norm + b.norm, a.dot_re + b.dot_re, a.dot_im + b.dot_im};
  }
  /// <A r, r> / |A r|^2. Lanes whose residual is zero stay there; others have no digit changed.
  template <class T>
  QUARKSTAR_HD site::Complex<V> alpha(T smallest) const {
    const V size = norm + V::broadcast(smallest);
    return {dot_re / size, dot_im / size};
  }
};

/// image(c) = A r = diagonal r + scale hops at one site, given to store(c, z); returns the site's sums.
template <class V, class R, class Hops, class Store>
QUARKSTAR_HD DomainSums<V> image_in_domain(V diagonal, V scale, const R& r_component, const Hops& hops_component, const Store& store) {
  DomainSums<V> sums;
  site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    const site::Complex<V> r = r_component(c), hops = hops_component(c);
    const site::Complex<V> t{fma(diagonal, r.re, scale * hops.re), fma(diagonal, r.im, scale * hops.im)};
    store(c, t);
    sums.norm = fma(t.im, t.im, fma(t.re, t.re, sums.norm));
    sums.dot_re = fma(t.im, r.im, fma(t.re, r.re, sums.dot_re));
    sums.dot_im = fnma(t.im, r.re, fma(t.re, r.im, sums.dot_im));
  });
  return sums;
}

}  // namespace quarkstar::wilson
