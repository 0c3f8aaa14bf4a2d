#pragma once
// The staggered Dslash at one site for several colour vectors, written once for every architecture.
#include "codelets/spin/spin.hpp"
#include "codelets/su3/long_link.hpp"

namespace quarkstar::staggered {

/// Whether a link's numbers stay in memory and are read where they are multiplied: u[row][column] reads, u.again() says that it is to
/// be read anew. Otherwise it is a site::Link.
template <class Link>
inline constexpr bool stays_in_memory = requires(Link& u) {
  u.again();
};

template <class Link>
QUARKSTAR_HD void read_again([[maybe_unused]] Link& u) {
  if constexpr (stays_in_memory<Link>) u.again();  // a function of its own: nvcc looks into what a lambda discards
}

/// r_v += U chi_v for every vector v: one hop. 66 flop per vector for the product, 6 for the sum.
/// chi(h, v) fills h with vector v of the neighbour. A link that stays in memory is read anew for every vector, and column by column, so
/// that few numbers of link and vector are needed at a time.
template <int Vectors, class V, class Link, class Chi>
QUARKSTAR_HD void add_hop(site::ColourVector<V> (&r)[Vectors], Link& u, Chi&& chi) {
  site::unroll<Vectors>([&](auto v) QUARKSTAR_INLINE_LAMBDA {
    if constexpr (v > 0) read_again(u);
    site::ColourVector<V> h;
    chi(h, v);
    site::unroll<3>([&](auto outer) QUARKSTAR_INLINE_LAMBDA {
      site::unroll<3>([&](auto inner) QUARKSTAR_INLINE_LAMBDA {
        constexpr int row = stays_in_memory<Link> ? inner : outer, column = stays_in_memory<Link> ? outer : inner;
        r[v][row] = site::multiply_add(u[row][column], h[column], r[v][row]);
      });
    });
  });
}

/// r_v = D chi_v: eight hops over one site, then eight over three, each in the order +x, -x, +y, ..., -t. Links hold everything that
/// multiplies the neighbour: phases, coefficients, the adjoint and minus sign of a backward hop.
/// Hops supplies  for_directions(body): body(d) for d = 0..7;  fat_link(u, d), far_link(u, d) for a FatLink, FarLink u (add_hop()); near(h,
/// d, v), far(h, d, v): vector v of the neighbour, lanes moved and faces merged;  has_far;  in half precision, where links come as
/// integers,  near_factor(): the unit of fat links over that of long links; the result is in units of the last links.
template <int Vectors, class V, class Hops>
QUARKSTAR_HD void dslash_term(site::ColourVector<V> (&r)[Vectors], Hops& hops) {
  site::unroll<Vectors>([&](auto v) QUARKSTAR_INLINE_LAMBDA {
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { r[v][c] = {V::broadcast(0), V::broadcast(0)}; });
  });
  hops.for_directions([&](auto d) QUARKSTAR_INLINE_LAMBDA {
    typename Hops::FatLink u;
    hops.fat_link(u, d);
    add_hop(r, u, [&](site::ColourVector<V>& h, int v) QUARKSTAR_INLINE_LAMBDA { hops.near(h, d, v); });
  });
  if constexpr (Hops::has_far) {
    if constexpr (Hops::in_units)
      site::unroll<Vectors>([&](auto v) QUARKSTAR_INLINE_LAMBDA {
        site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { r[v][c] = site::scaled(hops.near_factor(), r[v][c]); });
      });
    hops.for_directions([&](auto d) QUARKSTAR_INLINE_LAMBDA {
      typename Hops::FarLink u;
      hops.far_link(u, d);
      add_hop(r, u, [&](site::ColourVector<V>& h, int v) QUARKSTAR_INLINE_LAMBDA { hops.far(h, d, v); });
    });
  }
}

}  // namespace quarkstar::staggered
