#pragma once
// The hops of the Wilson hopping term on CPUs: loads, lane exchanges, faces and phases around the site body. One lane group
// at a time. Several right-hand sides: hopping_many.hpp. What is done with their sums: hopping_sites.hpp.
#include "codelets/actions/wilson/face_words.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/actions/wilson/hopping_spins.hpp"
#include "codelets/actions/wilson/wilson_site.hpp"
#include "codelets/arch/faces.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/prefetch.hpp"
#include "codelets/arch/site_stores.hpp"
#include "codelets/arch/usual_block.hpp"
#include "codelets/lattice/neighbour_entry.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Which vector of an outer site, or of a position in a face: the only one, or one of several. crosses: whether half_spinor() of one spin
/// knows edges.
struct OnlyVector {
  static constexpr bool crosses = true;
  static constexpr std::size_t at(std::size_t site) { return site; }
};
struct OneOfVectors {
  static constexpr bool crosses = false;
  std::size_t vectors, vector;
  std::size_t at(std::size_t site) const { return site * vectors + vector; }
};

/// The bits of a pack of floats.
template <int VL>
struct WordsOfPack {
  typedef std::uint32_t Words __attribute__((vector_size(4 * VL)));
};
template <int VL>
using WordsOf = typename WordsOfPack<VL>::Words;

/// The eight neighbours of lanes [lane0, lane0 + VL) of one outer site. W: lanes of the block.
template <class F, int W, int VL, int Reals, class Vector = OnlyVector>
struct CpuNeighbours {
  using T = Real<F>;
  using V = Pack<T, VL>;
  static constexpr int link_words = NumberFormat<F>::link_words(Reals);
  const wilson::HoppingArguments<F>& a;
  const std::uint32_t* entries;
  const std::uint32_t* faces_at;
  const F* links;  // of this outer site
  const F* next_links;
  const std::uint32_t* next_entries;
  int lane0;
  bool asks_ahead;  ///< prefetch(): where it is wanted, for the first lanes
  [[no_unique_address]] Vector vector = {};

  /// What wilson::add_direction() asks for.
  template <int D, int Projector>
  inline __attribute__((always_inline)) void half_spinor(site::HalfSpinor<V>& h) const {
    prefetch<D>();
    wilson::read_projected<F, D / 2, Projector, site::PlainLoads>(h, stored_spinor<D>(), W);
    if (__builtin_expect((entries[D] & 7u) != 0, 0))
      cross_copy<0, 6>([&](auto c) QUARKSTAR_INLINE_LAMBDA -> site::Complex<V>& { return h[c / 3][c % 3]; }, D);
  }
  template <int D>
  inline __attribute__((always_inline)) void link(site::Link<V>& u) const {
    site::load_link<F, Reals, site::PlainLoads>(u, stored_link<D>(), W);
  }

  /// Of lane0.
  template <int D>
  inline __attribute__((always_inline)) const F* stored_link() const {
    return links + D * link_words * W + lane0;
  }
  /// Of lane0, or of the lanes that it changes places with.
  template <int D>
  inline __attribute__((always_inline)) const F* stored_spinor() const {
    return a.in + vector.at(entries[D] >> neighbour_entry::shift) * (spinor_words<F> * W) + stored_lane<D>();
  }
  template <int D>
  inline __attribute__((always_inline)) int stored_lane() const {
    if constexpr (W > VL)
      if ((entries[D] & neighbour_entry::exchange) != 0 && a.stride[D / 2] >= VL) return lane0 ^ a.stride[D / 2];
    return lane0;
  }

  /// What add_direction_by_spins() asks for.
  template <int D, int Projector, int Spin>
  inline __attribute__((always_inline)) void half_spinor(site::ColourVector<V>& h,
                                                         const NearWords<const F, W, spinor_words<F>>& psi) const {
    site::project_spin<D / 2, Projector, Spin>(h, [&](auto c) QUARKSTAR_INLINE_LAMBDA -> site::Complex<V> {
      if constexpr (is_half<F>) return V::load_pair(psi.template word<1 + c>());
      else return {V::load(psi.template word<2 * c>()), V::load(psi.template word<2 * c + 1>())};
    });
    if constexpr (is_half<F>) {
      const V unit = V::load(reinterpret_cast<const float*>(psi.template word<0>())) * V::broadcast(site::link_unit);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = {h[c].re * unit, h[c].im * unit}; });
    }
    if constexpr (Vector::crosses)
      if (__builtin_expect((entries[D] & 7u) != 0, 0)) cross_spin<D, Spin>(h);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      hold_in_register(h[c].re.v);
      hold_in_register(h[c].im.v);
    });
  }

  /// Lanes change places, in registers.
  template <int D>
  inline __attribute__((always_inline)) void exchange(site::ColourVector<V>& h) const {
    with_stride<VL>(a.stride[D / 2], [&](auto s) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (s > 0)
        site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = {h[c].re.template exchange<s>(), h[c].im.template exchange<s>()}; });
    });
  }

  /// Asks for the lines of hops to come; the hardware cannot guess where neighbours are. In the order by spins: of neighbours four hops
  /// ahead and of links a site ahead, where a register is a line into the second-level cache (24 lines are a spinor); else of the next hop,
  /// which after a site's last one is the first of the next site.
  template <int D>
  inline __attribute__((always_inline)) void prefetch() const {
    if (!asks_ahead) return;
    constexpr int ahead = by_spins<F, W, VL> ? 4 : 1, hop = (D + ahead) % 8;
    constexpr int level = by_spins<F, W, VL> && sizeof(V) == 64 ? 2 : 1;
    constexpr bool in_next_site = D + ahead >= 8;
    const std::uint32_t entry = in_next_site ? next_entries[hop] : entries[hop];
    prefetch_words<W, spinor_words<F>, level>(a.in + static_cast<std::size_t>(entry >> neighbour_entry::shift) * (spinor_words<F> * W));
    const F* links_ahead =
        by_spins<F, W, VL> ? next_links + D * link_words * W : (in_next_site ? next_links : links) + hop * link_words * W;
    prefetch_words<W, link_words, level>(links_ahead);
  }

 private:
  /// cross() for one spin, without leaving the registers where lanes change places and nothing else happens, the usual case
  /// by far.
  template <int D, int Spin>
  inline __attribute__((always_inline)) void cross_spin(site::ColourVector<V>& h) const {
    if ((entries[D] & 7u) == neighbour_entry::exchange) return exchange<D>(h);
    cross_copy<6 * Spin, 3>([&](auto c) QUARKSTAR_INLINE_LAMBDA -> site::Complex<V>& { return h[c]; }, D);
  }

  /// cross() for components, which stay in registers on the usual path because a copy is handed on.
  template <int First, int Components, class Component>
  inline __attribute__((always_inline)) void cross_copy(Component&& component, int direction) const {
    V moved[2 * Components];
    site::unroll<Components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      moved[2 * c] = component(c).re;
      moved[2 * c + 1] = component(c).im;
    });
    cross<First>(moved, direction);
    site::unroll<Components>([&](auto c) QUARKSTAR_INLINE_LAMBDA { component(c) = {moved[2 * c], moved[2 * c + 1]}; });
  }

  /// What is special about a hop that crosses the edge of a virtual node, of the block or of the lattice, for the numbers of a half spinor
  /// from First on.
  template <int First, int Numbers>
  __attribute__((noinline)) void cross(V (&h)[Numbers], int direction) const {
    const std::uint32_t entry = entries[direction];
    const int stride = a.stride[direction / 2];
    const bool forward = direction % 2 == 0;
    with_stride<VL>(stride, [&](auto s) QUARKSTAR_INLINE_LAMBDA {
      constexpr int S = s;
      if constexpr (S > 0)
        if ((entry & neighbour_entry::exchange) != 0)
          for (V& x : h) x = x.template exchange<S>();
      if ((entry & neighbour_entry::face) != 0) {
        const std::size_t width = static_cast<std::size_t>(face_lanes<W>(stride));
        const T* const position = a.faces[direction] + vector.at(faces_at[direction]) * wilson::face_words<F> * width;
        if constexpr (is_half<F>) {
          V head[wilson::face_head]{}, pairs[Numbers / 2]{};
          merge_face<S, W>(head, position, stride, forward, lane0);
          merge_face<S, W>(pairs, position + (wilson::face_head + First / 2) * width, stride, forward, lane0);
          site::unroll<Numbers / 2>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
            const site::Complex<V> z = wilson::read_face_pair<First / 2 + c, WordsOf<VL>>(head, pairs[c]);
            h[2 * c] = on_edge<S>(h[2 * c], z.re, stride, forward);
            h[2 * c + 1] = on_edge<S>(h[2 * c + 1], z.im, stride, forward);
          });
        } else {
          merge_face<S, W>(h, position + First * width, stride, forward, lane0);
        }
      }
      if ((entry & neighbour_entry::phase) != 0) {
        const V re = V::broadcast(a.phase_re[direction]), im = V::broadcast(a.phase_im[direction]);
        for (int c = 0; c < Numbers / 2; ++c) {
          const site::Complex<V> z = site::multiply(site::Complex<V>{re, im}, site::Complex<V>{h[2 * c], h[2 * c + 1]});
          h[2 * c] = on_edge<S>(h[2 * c], z.re, stride, forward);
          h[2 * c + 1] = on_edge<S>(h[2 * c + 1], z.im, stride, forward);
        }
      }
    });
  }

  /// One of the two: by lane where the direction's stride lies within a register, else the same for all of them.
  template <int S>
  inline __attribute__((always_inline)) V on_edge(const V& inside, const V& edge, int stride, bool forward) const {
    if constexpr (S > 0) return on_edge_lanes<S>(inside, edge, forward);
    else return group_on_edge(stride, forward, lane0) ? edge : inside;
  }
};

/// r = (H in)(x) of the only vector, for the lanes [lane0, lane0 + VL) of an outer site: Hops::of_one_vector.
template <class F, int W, int VL, int Reals, int Sign>
__attribute__((noinline)) void hops_of_one_vector(const wilson::HoppingArguments<F>& a, const wilson::SiteOfList& site, Real<F>* r) {
  using V = Pack<Real<F>, VL>;
  constexpr std::size_t site_links = std::size_t{8} * NumberFormat<F>::link_words(Reals) * W;
  const bool asks_ahead = site.next != wilson::no_site;
  const std::size_t next = asks_ahead ? site.next : site.outer;
  const CpuNeighbours<F, W, VL, Reals> neighbours{a,
                                                  a.neighbours + site.outer * 8,
                                                  a.faces_at + site.position * 8,
                                                  a.links + site.outer * site_links,
                                                  a.links + next * site_links,
                                                  a.neighbours + next * 8,
                                                  site.lane0,
                                                  asks_ahead};
  if constexpr (by_spins<F, W, VL>) {
    hopping_term_by_spins<Sign, F, Reals, W, V>(ResultWords<V>(r), neighbours);
  } else {
    site::Spinor<V> by_spin;
    wilson::hopping_term<Sign>(by_spin, neighbours);
    site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      by_spin[c / 3][c % 3].re.store(r + 2 * c * VL);
      by_spin[c / 3][c % 3].im.store(r + (2 * c + 1) * VL);
    });
  }
}

/// Hops::of_vectors (hopping_many.hpp).
template <class F, int W, int VL>
void hops_of_vectors(const wilson::HoppingArguments<F>& arguments, const wilson::Hops<F>& hops, const wilson::SiteOfList& site,
                     const int* vectors, int count, const wilson::SumsOfHops<F>& sums);

/// Body of a pack kernel: projects the edge's spinors for the hop `D` of the reader and keeps the lanes on the edge.
template <class F, int W, int VL, int D, int Sign>
void pack_range(const wilson::PackArguments<F>& a, std::int64_t begin, std::int64_t end) {
  using V = Pack<Real<F>, VL>;
  constexpr int mu = D / 2;
  constexpr bool forward = D % 2 == 0;
  constexpr int projector = forward ? -Sign : Sign;
  const int width = face_lanes<W>(a.stride);
  for (std::int64_t i = begin; i < end; ++i)
    for (int v = 0; v < a.vectors; ++v)
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        if (misses_face<VL, forward>(a.stride, lane0)) continue;
        const F* p = a.in + (static_cast<std::size_t>(a.sites[i]) * a.vectors + v) * (spinor_words<F> * W) + lane0;
        site::HalfSpinor<V> h;
        const V unit = wilson::read_projected_integers<F, mu, projector, site::PlainLoads>(h, p, W);
        V words[wilson::face_words<F>];
        wilson::write_face_words<F, WordsOf<VL>>(words, h, unit);
        store_face<W, VL, wilson::face_words<F> / 2, forward>(a.out + (i * a.vectors + v) * wilson::face_words<F> * width, a.stride, lane0,
                                                              [&](auto c) QUARKSTAR_INLINE_LAMBDA {
                                                                return site::Complex<V>{words[2 * c], words[2 * c + 1]};
                                                              });
      }
}

/// Finds the instantiation for a choice. Rare blocks have no hops of their own for one vector. Lattices with blocks that do not fill
/// registers stay in the cache, and without vectors memory is not what is waited for: prefetch is always 1.
template <class F, int... Ws>
wilson::Hops<F> find_hops(const wilson::KernelChoice& choice, std::integer_sequence<int, Ws...>) {
  wilson::Hops<F> found{nullptr, nullptr, choice.link_reals, choice.sign};
  const auto over_lanes = [&](auto w) {
    if (choice.lanes != w) return;
    constexpr int width = vector_lanes<F, w>;
    found.prefetch = fills_registers<F, w> && choice.launch.memory.prefetch == 0 ? 0 : 1;
    found.of_vectors = hops_of_vectors<F, w, width>;
    if (choice.forward_along >= 0) {  // what comes next is not what all hops would ask for ahead
      found.prefetch = 0;
      found.first = 2 * choice.forward_along;
      found.end = found.first + 1;
    }
    found.stream = may_stream<F, w, spinor_words<F>> && choice.launch.memory.stores == arch::Stores::streaming;
    if constexpr (is_usual_block<F, w>) {
      const auto consider = [&](auto reals) {
        if (choice.link_reals == reals)
          found.of_one_vector = choice.sign > 0 ? hops_of_one_vector<F, w, width, reals, 1> : hops_of_one_vector<F, w, width, reals, -1>;
      };
      consider(site::Index<18>{});
      consider(site::Index<12>{});
      consider(site::Index<8>{});
    }
  };
  (over_lanes(site::Index<Ws>{}), ...);
  return found;
}

template <class F, int... Ws>
wilson::PackKernel<F> find_pack(int lanes, int direction, int sign, std::integer_sequence<int, Ws...>) {
  wilson::PackKernel<F> found = nullptr;
  const auto over_lanes = [&](auto w) {
    if (lanes != w) return;
    site::unroll<8>([&](auto d) {
      if (direction == d) found = sign > 0 ? pack_range<F, w, vector_lanes<F, w>, d, 1> : pack_range<F, w, vector_lanes<F, w>, d, -1>;
    });
  };
  (over_lanes(site::Index<Ws>{}), ...);
  return found;
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the hops and packs of one format.
#define QUARKSTAR_HOPS(F)                                                    \
  namespace quarkstar::QUARKSTAR_ARCH_NAME {                                 \
  template <>                                                                \
  wilson::Hops<F> hops_of<F>(const wilson::KernelChoice& choice) {           \
    return find_hops<F>(choice, LaneCounts<F>{});                            \
  }                                                                          \
  template <>                                                                \
  wilson::PackKernel<F> pack_kernel<F>(int lanes, int direction, int sign) { \
    return find_pack<F>(lanes, direction, sign, LaneCounts<F>{});            \
  }                                                                          \
  }
