#pragma once
// CPU driver of the Wilson hopping term for several right-hand sides. The links of an outer site are read, and completed to 18 numbers,
// once for all of them, and wait in the first-level cache (9 KB); then one right-hand side after the other is done with all hops.
#include "codelets/actions/wilson/hopping_cpu.hpp"

#include <algorithm>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Asks for one of Parts of the lines of a vector at p.
template <class F, int W, int Parts, int Part>
inline __attribute__((always_inline)) void ask_for_part(const F* p) {
  constexpr int lines = (spinor_words<F> * W * static_cast<int>(sizeof(F)) + 63) / 64, begin = Part * lines / Parts;
  site::unroll<(Part + 1) * lines / Parts - begin>(
      [&](auto line) QUARKSTAR_INLINE_LAMBDA { ask_for_line(reinterpret_cast<const char*>(p) + 64 * (begin + line)); });
}

/// What add_direction_by_spins() and hopping_pass() ask for. Hops that cross an edge of the block or of the lattice are projected
/// beforehand: a call among the passes would empty their registers.
template <class F, int W, int VL>
struct NeighboursOfVector : CpuNeighbours<F, W, VL, 18, OneOfVectors> {
  using Base = CpuNeighbours<F, W, VL, 18, OneOfVectors>;
  using V = Pack<Real<F>, VL>;
  Real<F> (&on_edges)[8][12 * VL];      ///< half spinors by direction
  const F *const *near, *const *ahead;  ///< by direction: the first vectors of the neighbours, and of those of the next vector, or nullptr
  std::size_t at, at_ahead;             ///< of the vectors behind these

  template <int D>
  inline __attribute__((always_inline)) const F* stored_spinor() const {
    return near[D] + at + this->template stored_lane<D>();
  }
  template <int D, int Projector, int Spin>
  inline __attribute__((always_inline)) void half_spinor(site::ColourVector<V>& h,
                                                         const NearWords<const F, W, spinor_words<F>>& psi) const {
    if (ahead != nullptr) ask_for_part<F, W, 2, Spin>(ahead[D] + at_ahead);
    if (__builtin_expect(crosses_edge<D>(), 0)) {
      const Real<F>* p = on_edges[D] + 6 * Spin * VL;
      return site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = {V::load(p + 2 * c * VL), V::load(p + (2 * c + 1) * VL)}; });
    }
    Base::template half_spinor<D, Projector, Spin>(h, psi);
    if ((this->entries[D] & neighbour_entry::exchange) != 0) this->template exchange<D>(h);
  }

  template <int D>
  inline __attribute__((always_inline)) bool crosses_edge() const {
    return (this->entries[D] & (neighbour_entry::face | neighbour_entry::phase)) != 0;
  }
  template <int D, int Projector>
  __attribute__((noinline)) void cross_edge() const {
    site::HalfSpinor<V> h;
    Base::template half_spinor<D, Projector>(h);
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      h[c / 3][c % 3].re.store(on_edges[D] + 2 * c * VL);
      h[c / 3][c % 3].im.store(on_edges[D] + (2 * c + 1) * VL);
    });
  }
};

/// All hops of a vector, for a register of lanes. next_result: the lines that are asked for, or nullptr.
template <int Sign, class F, int W, int VL>
__attribute__((noinline)) void sum_of_hops(const NeighboursOfVector<F, W, VL>& neighbours, const Real<F>* links, const F* next_result,
                                           Real<F>* r) {
  using V = Pack<Real<F>, VL>;
  const ResultWords<V> result(r);
  const auto link = [&](int d) QUARKSTAR_INLINE_LAMBDA { return LinkInMemory<Real<F>, 18, VL, V>(links + d * 18 * VL); };
  site::unroll<8>([&](auto d) {
    if (neighbours.template crosses_edge<d>()) neighbours.template cross_edge<d, wilson::projector_of(d, Sign)>();
  });
  site::unroll<4>([&](auto pass) QUARKSTAR_INLINE_LAMBDA {
    if (next_result != nullptr) ask_for_part<F, W, 4, pass>(next_result);
    if constexpr (vector_registers >= 32) hopping_pass<pass / 2, pass % 2, Sign, F, W, V>(result, link, neighbours);
    else
      site::unroll<2>([&](auto side) QUARKSTAR_INLINE_LAMBDA {
        add_direction_by_spins<2 * pass + side, Sign, F, W, V>(result, link(2 * pass + side), neighbours);
      });
  });
}

/// One hop alone, forward along mu.
template <int Sign, class F, int W, int VL>
__attribute__((noinline)) void forward_hop(const NeighboursOfVector<F, W, VL>& neighbours, int mu, const Real<F>* links, Real<F>* r) {
  using V = Pack<Real<F>, VL>;
  std::fill(r, r + 24 * VL, Real<F>{0});  // the first hop of all stores, others add
  site::unroll<4>([&](auto along) {
    constexpr int D = 2 * along;
    if (along != mu) return;
    if (neighbours.template crosses_edge<D>()) neighbours.template cross_edge<D, wilson::projector_of(D, Sign)>();
    add_direction_by_spins<D, Sign, F, W, V>(ResultWords<V>(r), LinkInMemory<Real<F>, 18, VL, V>(links + D * 18 * VL), neighbours);
  });
}

/// All 18 numbers of the links of an outer site, [register of lanes][direction][number][lane].
template <class F, int Reals, int W, int VL>
void complete_links(const F* from, const wilson::Hops<F>& hops, Real<F>* links) {
  for (int lane0 = 0; lane0 < W; lane0 += VL)
    for (int d = hops.first; d < hops.end; ++d) {
      site::Link<Pack<Real<F>, VL>> u;
      site::load_link<F, Reals, site::PlainLoads>(u, from + d * NumberFormat<F>::link_words(Reals) * W + lane0, W);
      Real<F>* const to = links + (8 * lane0 + d * VL) * 18;
      site::unroll<9>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        u[i / 3][i % 3].re.store(to + 2 * i * VL);
        u[i / 3][i % 3].im.store(to + (2 * i + 1) * VL);
      });
    }
}

/// Hops::of_vectors: r = (H in_v)(x) for vectors v at one outer site x of W lanes, with the operations and so the bits of
/// wilson::hopping_term(). in: [outer site][vector][word][lane]; links: [outer site][direction][word][lane].
/// Cost of a site (lane) and vector: 1320 flop; each link is read twice from the first-level cache. While a vector is computed, what comes
/// next is asked for little by little, because a processor waits for few lines at a time: neighbours of the next vector, the lines where
/// its result will be stored (plain stores read what they overwrite), and some of the next site's links. Source: Gattringer & Lang, ch. 5.
template <class F, int W, int VL>
void hops_of_vectors(const wilson::HoppingArguments<F>& a, const wilson::Hops<F>& hops, const wilson::SiteOfList& site, const int* vectors,
                     int count, const wilson::SumsOfHops<F>& sums) {
  constexpr std::size_t words = spinor_words<F> * W;
  const auto n = static_cast<std::size_t>(a.vectors),
             link_words = static_cast<std::size_t>(8 * W * NumberFormat<F>::link_words(hops.link_reals));
  alignas(64) Real<F> links[8 * 18 * W], on_edges[8][12 * VL];
  (hops.link_reals == 18   ? complete_links<F, 18, W, VL>
   : hops.link_reals == 12 ? complete_links<F, 12, W, VL>
                           : complete_links<F, 8, W, VL>)(a.links + site.outer * link_words, hops, links);
  const auto* const next_links = reinterpret_cast<const char*>(a.links + site.next * link_words);
  const bool asks = hops.prefetch > 0;
  const int link_lines = asks && site.next != site.outer ? static_cast<int>(link_words * sizeof(F) / 64) : 0;
  const std::uint32_t *const entries = a.neighbours + site.outer * 8, *const next_entries = a.neighbours + site.next * 8;
  const F *near[8], *of_next_site[8];
  for (int d = 0; d < 8; ++d) {
    near[d] = a.in + (entries[d] >> neighbour_entry::shift) * (n * words);
    of_next_site[d] = a.in + (next_entries[d] >> neighbour_entry::shift) * (n * words);
  }
  for (int k = 0; k < count; ++k) {
    const bool last = k + 1 == count;
    const auto v = static_cast<std::size_t>(vectors[k]), next_v = static_cast<std::size_t>(vectors[last ? 0 : k + 1]);
    const F* const next_result = asks && !hops.stream ? a.out + ((last ? site.next : site.outer) * n + next_v) * words : nullptr;
    for (int line = k * link_lines / count; line < (k + 1) * link_lines / count; ++line) ask_for_line(next_links + 64 * line);
    Real<F>* const r = sums.r + k % sums.places * 24 * W;
    for (int lane0 = 0; lane0 < W; lane0 += VL) {
      const F* const* const ahead = !asks || lane0 > 0 ? nullptr : last ? of_next_site : near;
      const NeighboursOfVector<F, W, VL> neighbours{
          {a, entries, a.faces_at + site.position * 8, nullptr, nullptr, nullptr, lane0, false, {n, v}},
          on_edges,
          near,
          ahead,
          v * words,
          next_v * words};
      const Real<F>* const of_lanes = links + 8 * 18 * lane0;
      if (hops.end - hops.first == 1)
        (hops.sign > 0 ? forward_hop<1, F, W, VL> : forward_hop<-1, F, W, VL>)(neighbours, hops.first / 2, of_lanes, r + 24 * lane0);
      else
        (hops.sign > 0 ? sum_of_hops<1, F, W, VL> : sum_of_hops<-1, F, W, VL>)(neighbours, of_lanes, lane0 > 0 ? nullptr : next_result,
                                                                               r + 24 * lane0);
    }
    sums.done(sums.driver, k, r);
  }
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the hops of one format, for every count of lanes (LaneCounts).
#define QUARKSTAR_HOPS_OF_LANES(F, W)                                                                                 \
  template void hops_of_vectors<F, W, vector_lanes<F, W>>(const wilson::HoppingArguments<F>&, const wilson::Hops<F>&, \
                                                          const wilson::SiteOfList&, const int*, int, const wilson::SumsOfHops<F>&);
#define QUARKSTAR_HOPS_OF_VECTORS(F)                    \
  namespace quarkstar::QUARKSTAR_ARCH_NAME {            \
  QUARKSTAR_HOPS_OF_LANES(F, 64 / int{sizeof(Real<F>)}) \
  QUARKSTAR_HOPS_OF_LANES(F, 32 / int{sizeof(Real<F>)}) \
  QUARKSTAR_HOPS_OF_LANES(F, 1)                         \
  }
