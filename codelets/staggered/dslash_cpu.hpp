#pragma once
// CPU driver of the staggered Dslash: loads, lane exchanges and faces around the site body. One lane group at a time, the vectors of a
// site in blocks of up to four, whose results stay in registers.
#include <cstddef>
#include <vector>

#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/site_stores.hpp"
#include "codelets/lattice/neighbour_entry.hpp"
#include "codelets/staggered/dslash_kernels.hpp"
#include "codelets/staggered/staggered_site.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// What a hop asks for of the next one.
enum class Ahead { nothing, vectors, links_and_vectors };
template <Ahead Asked>
using AheadOf = std::integral_constant<Ahead, Asked>;

/// The neighbours of lanes [lane0, lane0 + VL) of one outer site for Count vectors, and the links to them. W: lanes of the block.
template <class F, int W, int VL, int LongReals, int Count, Ahead Asked>
struct ColourHops {
  using T = Real<F>;
  using V = Pack<T, VL>;
  using Vector = site::ColourVector<V>;
  static constexpr bool has_far = LongReals > 0, in_units = is_half<F>;
  static constexpr int fat_words = NumberFormat<F>::link_words(18), far_words = NumberFormat<F>::link_words(LongReals);
  const staggered::DslashArguments<F>& a;
  std::size_t outer, next;  ///< next: the site after this one
  std::int64_t position;    ///< in the list of sites
  int lane0, first;         ///< first: of the block of vectors

  template <class Body>
  inline __attribute__((always_inline)) void for_directions(Body&& body) const {
    for (int d = 0; d < 8; ++d) body(d);
  }

  /// A link of 18 reals: its numbers are operands of multiplications, for every vector again. Kept, they would not fit into registers
  /// beside the results, and the compiler would store them, and load them, too.
  struct StoredLink {
    struct Row {
      const F* p;
      inline __attribute__((always_inline)) site::Complex<V> operator[](int column) const {
        return {V::load(p + 2 * column * W), V::load(p + (2 * column + 1) * W)};
      }
    };
    const F* p;
    inline __attribute__((always_inline)) Row operator[](int row) const { return {p + 6 * row * W}; }
    /// The compiler must not know that the next loads give the same.
    inline __attribute__((always_inline)) void again() { asm volatile("" : "+r"(p)); }
  };
  using FatLink = std::conditional_t<in_units, site::Link<V>, StoredLink>;
  using FarLink = std::conditional_t<in_units || LongReals != 18, site::Link<V>, StoredLink>;

  inline __attribute__((always_inline)) void fat_link(FatLink& u, int d) const {
    prefetch<fat_words>(a.near, a.fat, d);
    const F* p = a.fat + (outer * 8 + static_cast<std::size_t>(d)) * (fat_words * W) + lane0;
    if constexpr (staggered::stays_in_memory<FatLink>) u.p = p;
    else site::load_link<F, 18, site::PlainLoads>(u, p, W);
  }
  inline __attribute__((always_inline)) void far_link(FarLink& u, int d) const {
    prefetch<far_words>(a.far, a.far_links, d);
    const F* p = a.far_links + (outer * 8 + static_cast<std::size_t>(d)) * (far_words * W) + lane0;
    if constexpr (staggered::stays_in_memory<FarLink>) u.p = p;
    else site::load_long_link<F, LongReals, site::PlainLoads>(u, V::broadcast(a.long_factor), p, W);
  }
  inline __attribute__((always_inline)) V near_factor() const { return V::broadcast(a.near_factor); }
  inline __attribute__((always_inline)) void near(Vector& h, int d, int v) const {
    read(h, a.near[outer * 8 + static_cast<std::size_t>(d)], a.near_at, d, v);
  }
  inline __attribute__((always_inline)) void far(Vector& h, int d, int v) const {
    read(h, a.far[outer * 8 + static_cast<std::size_t>(d)], a.far_at, d, v);
  }

 private:
  /// Asks for the next hop in the same table: after the last one for the next site's first.
  template <int LinkWords>
  inline __attribute__((always_inline)) void prefetch(const std::uint32_t* table, const F* links, int d) const {
    if constexpr (Asked == Ahead::nothing) return;
    const std::size_t hop = (d == 7 ? next : outer) * 8 + static_cast<std::size_t>((d + 1) % 8);
    const std::size_t at = static_cast<std::size_t>(table[hop] >> neighbour_entry::shift) * static_cast<std::size_t>(a.vectors) +
                           static_cast<std::size_t>(first);
    prefetch_words<Count * staggered::vector_words<F>>(a.in + at * (staggered::vector_words<F> * W));
    if constexpr (Asked == Ahead::links_and_vectors) prefetch_words<LinkWords>(links + hop * (LinkWords * W));
  }
  template <int Words>
  static inline __attribute__((always_inline)) void prefetch_words(const F* p) {
    const char* from = reinterpret_cast<const char*>(p);
    site::unroll<(Words * W * static_cast<int>(sizeof(F)) + 63) / 64>([&](auto line) QUARKSTAR_INLINE_LAMBDA { __builtin_prefetch(from + 64 * line); });
  }

  inline __attribute__((always_inline)) void read(Vector& h, std::uint32_t entry, const std::uint32_t* faces_at, int d, int v) const {
    int lane = lane0;
    if constexpr (W > VL)
      if ((entry & neighbour_entry::exchange) != 0 && a.stride[d / 2] >= VL) lane ^= a.stride[d / 2];
    const std::size_t at = static_cast<std::size_t>(entry >> neighbour_entry::shift) * static_cast<std::size_t>(a.vectors) +
                           static_cast<std::size_t>(first + v);
    const site::SiteReader<F, V> stored(a.in + at * (staggered::vector_words<F> * W) + lane, W);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = stored.component(c); });
    if (__builtin_expect((entry & (neighbour_entry::exchange | neighbour_entry::face)) != 0, 0)) {
      V moved[6];  // a copy, so that h itself stays in registers on the usual path
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        moved[2 * c] = h[c].re;
        moved[2 * c + 1] = h[c].im;
      });
      cross(moved, entry, faces_at, d, first + v);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = {moved[2 * c], moved[2 * c + 1]}; });
    }
  }

  /// What is special about a hop that crosses the edge of a virtual node or of the block.
  __attribute__((noinline)) void cross(V (&h)[6], std::uint32_t entry, const std::uint32_t* faces_at, int direction, int vector) const {
    const int stride = a.stride[direction / 2];
    const bool forward = direction % 2 == 0;
    with_stride<VL>(stride, [&](auto s) QUARKSTAR_INLINE_LAMBDA {
      constexpr int S = s;
      if constexpr (S > 0)
        if ((entry & neighbour_entry::exchange) != 0)
          for (V& x : h) x = x.template exchange<S>();
      if ((entry & neighbour_entry::face) == 0) return;
      const int width = stride == 0 ? W : W / 2;
      const std::size_t at = static_cast<std::size_t>(faces_at[position * 8 + direction]) * static_cast<std::size_t>(a.vectors) +
                             static_cast<std::size_t>(vector);
      const T* face = a.faces[direction] + at * 6 * static_cast<std::size_t>(width);
      if constexpr (S > 0) {
        // Lanes in the half that ends at the edge.
        for (int c = 0; c < 6; ++c) {
          const V edge = V::template load_half<S>(face + c * width + lane0 / 2);
          h[c] = forward ? h[c].template select<S, 1>(edge) : h[c].template select<S, 0>(edge);
        }
      } else if (stride == 0 || ((lane0 & stride) != 0) == forward) {
        const int lane = stride == 0 ? lane0 : face_lane(lane0, stride);
        for (int c = 0; c < 6; ++c) h[c] = V::load(face + c * width + lane);
      }
    });
  }
};

/// Sums of every vector, gathered over a range of sites.
template <int VL>
struct VectorSums {
  std::vector<LaneSum<VL>> norm, dot;
  VectorSums(const staggered::OutputSums& sums, int vectors)
      : norm(static_cast<std::size_t>(sums.norm ? vectors : 0)), dot(static_cast<std::size_t>(sums.dot ? vectors : 0)) {}
  void merge_into(runtime::BinnedSum* sums) {
    for (LaneSum<VL>& sum : norm) (sums++)->merge(sum.total());
    for (LaneSum<VL>& sum : dot) (sums++)->merge(sum.total());
  }
};

/// Vectors [first, first + Count) at one site.
template <class F, int W, int VL, int LongReals, int Count, Ahead Asked, class Stores>
inline __attribute__((always_inline)) void dslash_vectors(const staggered::DslashArguments<F>& a, Stores& stores, std::size_t outer,
                                                          std::size_t next, std::int64_t position, int lane0, int first,
                                                          VectorSums<VL>& sums) {
  using V = Pack<Real<F>, VL>;
  ColourHops<F, W, VL, LongReals, Count, Asked> hops{a, outer, next, position, lane0, first};
  site::ColourVector<V> r[Count];
  staggered::dslash_term(r, hops);
  // Written out, or else r would be an array in memory all the time.
  site::unroll<Count>([&](auto v) QUARKSTAR_INLINE_LAMBDA {
    const auto vector = static_cast<std::size_t>(first + v);
    const std::size_t at = (outer * static_cast<std::size_t>(a.vectors) + vector) * (staggered::vector_words<F> * W) +
                           static_cast<std::size_t>(lane0);
    const V scale = V::broadcast(a.scale[vector]);
    site::ColourVector<V> z;
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = {scale * r[v][c].re, scale * r[v][c].im}; });
    if (a.x != nullptr) {
      const V diagonal = V::broadcast(a.diagonal[vector]);
      const site::SiteReader<F, V> x(a.x + at, W);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> value = x.component(c);
        z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
      });
    }
    site::write_site<F>(stores.place(a.out + at, v * (staggered::vector_words<F> * W) + lane0), W, z);
    if (a.sums.norm) {
      V norm = V::broadcast(0);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
      sums.norm[vector].add(norm);
    }
    if (a.sums.dot) {
      const site::SiteReader<F, V> y(a.y + at, W);
      V dot = V::broadcast(0);
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> value = y.component(c);
        dot = fma(value.im, z[c].im, fma(value.re, z[c].re, dot));
      });
      sums.dot[vector].add(dot);
    }
  });
}

/// Body of a Dslash kernel over list positions [begin, end). Prefetch: hops ahead, 0 or 1.
template <class F, int W, int VL, int LongReals, int Prefetch>
void dslash_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                  runtime::BinnedSum* sums) {
  constexpr int most = 4;  // vectors in registers: 24 results of 32 registers
  constexpr int vector_words = staggered::vector_words<F>;
  const staggered::DslashArguments<F> a = arguments;
  VectorSums<VL> totals(a.sums, a.vectors);
  const auto wanted = [left_out](int first, int count) {
    if (left_out == nullptr) return true;
    for (int v = first; v < first + count; ++v)
      if (left_out[v] == 0) return true;
    return false;
  };
  SiteStores<F, W, most * vector_words, bool> stores(a.stream_out);
  const auto site_at = [&a](std::int64_t i) { return a.sites != nullptr ? a.sites[i] : static_cast<std::uint32_t>(i); };
  for (std::int64_t i = begin; i < end; ++i) {
    const std::size_t outer = site_at(i), next = Prefetch > 0 ? site_at(i + 1 < end ? i + 1 : i) : 0;
    for (int first = 0; first < a.vectors; first += most) {
      const int count = a.vectors - first < most ? a.vectors - first : most;
      if (!wanted(first, count)) continue;
      for (int lane0 = 0; lane0 < W; lane0 += VL)
        site::unroll<most>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
          if (count != c + 1) return;
          const auto compute = [&](auto ahead) QUARKSTAR_INLINE_LAMBDA {
            dslash_vectors<F, W, VL, LongReals, c + 1, ahead>(a, stores, outer, next, i, lane0, first, totals);
          };
          // The first lane group asks for the others; the first block of vectors brings the links for all, and a last one that is not full,
          // which would need a kernel more, asks for them again.
          if constexpr (Prefetch > 0) {
            if constexpr (c + 1 == most)
              if (lane0 == 0 && first > 0) return compute(AheadOf<Ahead::vectors>{});
            if (lane0 == 0) return compute(AheadOf<Ahead::links_and_vectors>{});
          }
          if constexpr (Prefetch == 0 || VL < W) compute(AheadOf<Ahead::nothing>{});
        });
      stores.complete(a.out + (outer * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(first)) * (vector_words * W),
                      count * vector_words);
    }
  }
  stores.finish();
  totals.merge_into(sums);
}

/// Body of a pack kernel: keeps the lanes on the edge.
template <class F, int W, int VL, bool Forward>
void colour_pack_range(const staggered::PackArguments<F>& a, std::int64_t begin, std::int64_t end) {
  using V = Pack<Real<F>, VL>;
  constexpr int kept_bit = Forward ? 0 : 1;  // a reader that looks forward needs our lower half
  const int width = a.stride == 0 ? W : W / 2;
  for (std::int64_t i = begin; i < end; ++i)
    for (int v = 0; v < a.vectors; ++v)
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        if (a.stride >= VL && ((lane0 & a.stride) != 0) != (kept_bit != 0)) continue;
        const std::size_t at = static_cast<std::size_t>(a.sites[i]) * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(v);
        const site::SiteReader<F, V> stored(a.in + at * (staggered::vector_words<F> * W) + lane0, W);
        Real<F>* out = a.out + (i * a.vectors + v) * 6 * width;
        with_stride<VL>(a.stride, [&](auto s) QUARKSTAR_INLINE_LAMBDA {
          constexpr int S = s;
          site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
            const site::Complex<V> z = stored.component(c);
            if constexpr (S > 0) {
              z.re.template store_half<S, kept_bit>(out + 2 * c * width + lane0 / 2);
              z.im.template store_half<S, kept_bit>(out + (2 * c + 1) * width + lane0 / 2);
            } else {
              const int first = a.stride == 0 ? lane0 : face_lane(lane0, a.stride);
              z.re.store(out + 2 * c * width + first);
              z.im.store(out + (2 * c + 1) * width + first);
            }
          });
        });
      }
}

template <class F, int LongReals, int... Ws>
staggered::DslashKernel<F> find_dslash(int lanes, int prefetch, std::integer_sequence<int, Ws...>) {
  staggered::DslashKernel<F> found = nullptr;
  const auto consider = [&](auto w) {
    if (lanes != w) return;
    found = with_prefetch<F, w, 0>(prefetch, [&](auto hops) -> staggered::DslashKernel<F> {
      return dslash_range<F, w, vector_lanes<F, w>, LongReals, hops>;
    });
  };
  (consider(site::Index<Ws>{}), ...);
  return found;
}

template <class F, int... Ws>
staggered::PackKernel<F> find_colour_pack(int lanes, bool forward, std::integer_sequence<int, Ws...>) {
  staggered::PackKernel<F> found = nullptr;
  ((lanes == Ws ? void(found = forward ? colour_pack_range<F, Ws, vector_lanes<F, Ws>, true>
                                       : colour_pack_range<F, Ws, vector_lanes<F, Ws>, false>)
                : void()),
   ...);
  return found;
}

template <class F, int LongReals>
staggered::DslashKernel<F> dslash_kernel(int lanes, int prefetch) {
  return find_dslash<F, LongReals>(lanes, prefetch, LaneCounts<F>{});
}

template <class F>
staggered::PackKernel<F> colour_pack_kernel(int lanes, bool forward) {
  return find_colour_pack<F>(lanes, forward, LaneCounts<F>{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the kernels of one format and one kind of long link.
#define QUARKSTAR_DSLASH_KERNEL(F, LongReals) \
  template quarkstar::staggered::DslashKernel<F> quarkstar::QUARKSTAR_ARCH_NAME::dslash_kernel<F, LongReals>(int, int);
#define QUARKSTAR_COLOUR_PACK_KERNEL(F) \
  template quarkstar::staggered::PackKernel<F> quarkstar::QUARKSTAR_ARCH_NAME::colour_pack_kernel<F>(int, bool);
