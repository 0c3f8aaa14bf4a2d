#pragma once
// The hops of one vector on CPUs, whose result stays in registers over all of them: what staggered::dslash_term() asks
// for. Memory is what is waited for, and loads that are parts of multiplications let the processor see more of them at
// a time.
#include "codelets/actions/staggered/colour_neighbours.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// The Hops of staggered::dslash_term() for one vector: the neighbours of lanes [lane0, lane0 + VL) of one outer site,
/// and the links to them, eight over one site and, where LongReals > 0, eight over three. Of a site (lane) it reads
/// each link (18 or LongReals numbers in format F) and each neighbour's vector (6 numbers) once, for 72 flop per hop;
/// nothing is stored. Full-precision links of 18 reals are operands in memory, others are unpacked into registers.
/// Ahead: each hop asks for what the next one in the same table reads. Source: Follana et al., hep-lat/0610092.
template <class F, int W, int VL, int LongReals, bool Ahead>
struct OneVectorHops {
  using Neighbours = ColourNeighbours<F, W, VL>;
  using V = typename Neighbours::V;
  using Vector = site::ColourVector<V>;
  static constexpr bool has_far = LongReals > 0, in_units = is_half<F>;
  static constexpr int fat_words = NumberFormat<F>::link_words(18), far_words = NumberFormat<F>::link_words(LongReals);
  const Neighbours& neighbours;
  std::size_t outer, next;  ///< next: the site after this one
  int vector, lane0;

  using FatLink = std::conditional_t<in_units, site::Link<V>, StoredLink<V, W, false>>;
  using FarLink = std::conditional_t<in_units || LongReals != 18, site::Link<V>, StoredLink<V, W, false>>;

  template <class Body>
  inline __attribute__((always_inline)) void for_directions(Body&& body) const {
    for (int d = 0; d < 8; ++d) body(d);
  }
  inline __attribute__((always_inline)) void fat_link(FatLink& u, int d) const {
    const auto& a = neighbours.a;
    prefetch<fat_words>(a.neighbours, a.links, d);
    const F* p = a.links + (outer * 8 + static_cast<std::size_t>(d)) * (fat_words * W) + lane0;
    if constexpr (staggered::stays_in_memory<FatLink>) u.p = p;
    else site::load_link<F, 18, site::PlainLoads>(u, p, W);
  }
  inline __attribute__((always_inline)) void far_link(FarLink& u, int d) const {
    const auto& a = neighbours.a;
    prefetch<far_words>(a.far, a.far_links, d);
    const F* p = a.far_links + (outer * 8 + static_cast<std::size_t>(d)) * (far_words * W) + lane0;
    if constexpr (staggered::stays_in_memory<FarLink>) u.p = p;
    else site::load_long_link<F, LongReals, site::PlainLoads>(u, V::broadcast(a.long_factor), p, W);
  }
  inline __attribute__((always_inline)) V near_factor() const { return V::broadcast(neighbours.a.near_factor); }
  inline __attribute__((always_inline)) void near(Vector& h, int d, int) const {
    read(h, neighbours.a.neighbours[outer * 8 + static_cast<std::size_t>(d)], neighbours.a.faces_at, d);
  }
  inline __attribute__((always_inline)) void far(Vector& h, int d, int) const {
    read(h, neighbours.a.far[outer * 8 + static_cast<std::size_t>(d)], neighbours.a.far_at, d);
  }

 private:
  /// After the last hop the next site's first one. The first lane group asks for the others.
  template <int LinkWords>
  inline __attribute__((always_inline)) void prefetch(const std::uint32_t* table, const F* links, int d) const {
    if constexpr (!Ahead) return;
    if (lane0 != 0) return;
    const std::size_t hop = (d == 7 ? next : outer) * 8 + static_cast<std::size_t>((d + 1) % 8);
    prefetch_words<W, Neighbours::vector_words>(neighbours.vectors_at(table[hop]) + vector * (Neighbours::vector_words * W));
    prefetch_words<W, LinkWords>(links + hop * (LinkWords * W));
  }

  inline __attribute__((always_inline)) void read(Vector& h, std::uint32_t entry, const std::uint32_t* faces_at, int d) const {
    const auto read_stored = [&](const F* from, int lanes) QUARKSTAR_INLINE_LAMBDA {
      const site::SiteReader<F, V> stored(from, lanes);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = stored.component(c); });
    };
    if (__builtin_expect((entry & Neighbours::crosses) != 0, 0)) {
      alignas(64) F moved[Neighbours::vector_words * VL];
      cross(moved, entry, faces_at, d);
      read_stored(moved, VL);
      return;
    }
    read_stored(neighbours.vectors_at(entry) + vector * (Neighbours::vector_words * W) + lane0, W);
  }
  __attribute__((noinline)) void cross(F* to, std::uint32_t entry, const std::uint32_t* faces_at, int d) const {
    with_stride<VL>(neighbours.a.stride[d / 2],
                    [&](auto s) QUARKSTAR_INLINE_LAMBDA { neighbours.template cross<s>(to, entry, faces_at, d, lane0, vector); });
  }
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
