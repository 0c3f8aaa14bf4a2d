#pragma once
// The hops of several vectors on CPUs. Their results wait in the first-level cache, and each hop is done for all of
// them: its link is loaded (and unpacked) once, and a neighbour's vectors, which lie side by side in memory, are read
// one after the other.
#include "codelets/actions/staggered/colour_neighbours.hpp"

#include <algorithm>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// r_v = sum over d of U_d chi_v(x + d), for up to `most` vectors v at one outer site x of W lanes: eight hops over one
/// site and, where LongReals > 0, eight over three, in the order of staggered::dslash_term(), whose bits the results
/// have. chi: [outer site][vector][word][lane]; links: [outer site][d][word][lane]; results: six numbers per lane.
/// Cost of a site (lane) and vector: 72 flop per hop. Each link is read from memory once for all vectors, and once from
/// the first-level cache for each where registers do not hold it; each neighbour's vector is read once, and its result
/// loaded and stored at each hop in the first-level cache. Prefetch: 1 asks a hop ahead. Source: Follana et al.,
/// hep-lat/0610092.
template <class F, int W, int VL, int LongReals, int Prefetch>
class ManyVectors {
  using T = Real<F>;
  using Neighbours = ColourNeighbours<F, W, VL>;
  using V = typename Neighbours::V;
  using Vector = site::ColourVector<V>;
  static constexpr int vector_words = Neighbours::vector_words;
  static constexpr bool link_fits = vector_registers >= 32;  // 18 for the link, 6 for a result, 2 for a component of the neighbour
  static constexpr int links_ahead = 4;                      // hops

 public:
  /// With a hop's link and the vectors of two neighbours the results fill a first-level cache of 32 KB.
  static constexpr int most = 16;

  explicit ManyVectors(const Neighbours& neighbours) : neighbours_(neighbours), a_(neighbours.a) {}

  /// Vectors that are done together at one outer site.
  struct Group {
    std::size_t outer;
    const int* vectors;
    int count;
  };

  /// All hops of a group. next: the group after it.
  inline __attribute__((always_inline)) void compute(const Group& group, const Group& next) {
    group_ = group;
    const std::size_t outer = group.outer;
    const Table<18> near{a_.neighbours + outer * 8, a_.faces_at, a_.links + outer * 8 * Table<18>::link_size};
    const Table<18> next_near{a_.neighbours + next.outer * 8, a_.faces_at, a_.links + next.outer * 8 * Table<18>::link_size};
    for (int i = 0; i < group.count * 6 * W; i += VL) V::broadcast(0).store(results_ + i);
    if constexpr (LongReals == 0) return hops(near, next_near, next);
    else {
      const Table<LongReals> far{a_.far + outer * 8, a_.far_at, a_.far_links + outer * 8 * Table<LongReals>::link_size};
      hops(near, far, group);
      if constexpr (is_half<F>)
        for (int i = 0; i < group.count * 6 * W; i += VL) (V::broadcast(a_.near_factor) * V::load(results_ + i)).store(results_ + i);
      hops(far, next_near, next);
    }
  }

  inline __attribute__((always_inline)) void load(Vector& r, int i, int lane0) const {
    const T* p = results_ + (i * W + lane0) * 6;
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { r[c] = {V::load(p + 2 * c * VL), V::load(p + (2 * c + 1) * VL)}; });
  }

 private:
  /// Hops of one length from one outer site.
  template <int Reals>
  struct Table {
    static constexpr int link_size = NumberFormat<F>::link_words(Reals) * W;
    static constexpr int link_lines = (link_size * static_cast<int>(sizeof(F)) + 63) / 64;
    const std::uint32_t* entries;
    const std::uint32_t* faces_at;
    const F* links;
  };

  inline __attribute__((always_inline)) void store(const Vector& r, int i, int lane0) {
    T* p = results_ + (i * W + lane0) * 6;
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      r[c].re.store(p + 2 * c * VL);
      r[c].im.store(p + (2 * c + 1) * VL);
    });
  }

  /// The eight hops of a table; following: the table after it, for a group.
  template <int Reals, int FollowingReals>
  inline __attribute__((always_inline)) void hops(const Table<Reals>& table, const Table<FollowingReals>& following,
                                                  const Group& following_group) {
    for (int d = 0; d < 8; ++d) {
      // What is needed next is asked for little by little, because a processor waits for few lines at a time: with each
      // vector the same vector of the next hop, and some lines of the link that comes a few hops later.
      const Group& group_ahead = d < 7 ? group_ : following_group;
      const F* in_ahead = Prefetch > 0 ? neighbours_.vectors_at(d < 7 ? table.entries[d + 1] : following.entries[0]) : nullptr;
      const bool same_table = d + links_ahead < 8;
      const char* line_ahead = reinterpret_cast<const char*>(same_table ? table.links + (d + links_ahead) * table.link_size
                                                                        : following.links + (d + links_ahead - 8) * following.link_size);
      const int lines = same_table ? table.link_lines : following.link_lines;
      const int bytes_a_vector = Prefetch > 0 ? 64 * ((lines + group_.count - 1) / group_.count) : 0;
      const char* const end_ahead = line_ahead + 64 * lines;
      const auto ask = [&](int i, int lane0) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Prefetch == 0) return;
        if (lane0 == 0 && i < group_ahead.count) prefetch_words<W, vector_words>(in_ahead + group_ahead.vectors[i] * (vector_words * W));
        if (lane0 == W - VL)
          for (const char* end = std::min(line_ahead + bytes_a_vector, end_ahead); line_ahead < end; line_ahead += 64)
            __builtin_prefetch(line_ahead);
      };
      const std::uint32_t entry = table.entries[d];
      const F* in = neighbours_.vectors_at(entry);
      for (int lane0 = 0; lane0 < W; lane0 += VL)
        with_link<Reals>(table.links + d * table.link_size + lane0, [&](auto& u) QUARKSTAR_INLINE_LAMBDA {
          if (__builtin_expect((entry & Neighbours::crosses) != 0, 0)) {
            move(entry, table.faces_at, d, lane0);
            for (int i = 0; i < group_.count; ++i) {
              ask(i, lane0);
              add(u, moved_ + i * vector_words * VL, VL, i, lane0);
            }
            return;
          }
          for (int i = 0; i < group_.count; ++i) {
            ask(i, lane0);
            add(u, in + group_.vectors[i] * (vector_words * W) + lane0, W, i, lane0);
          }
        });
    }
  }

  template <int Reals>
  inline __attribute__((always_inline)) void load_link(site::Link<V>& u, const F* p) const {
    if constexpr (Reals == 18) site::load_link<F, 18, site::PlainLoads>(u, p, W);
    else site::load_long_link<F, Reals, site::PlainLoads>(u, V::broadcast(a_.long_factor), p, W);
  }

  /// Calls body(u) with the link at p.
  template <int Reals, class Body>
  inline __attribute__((always_inline)) void with_link(const F* p, Body&& body) const {
    if constexpr (!link_fits && Reals == 18 && !is_half<F>) {
      StoredLink<V, W, true> u{p};
      body(u);
    } else if constexpr (link_fits) {
      HeldLink<V> u;
      load_link<Reals>(u.numbers, p);
      body(u);
    } else {
      site::Link<V> u;
      load_link<Reals>(u, p);
      alignas(64) T numbers[18 * VL];
      site::unroll<9>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        u[i / 3][i % 3].re.store(numbers + 2 * i * VL);
        u[i / 3][i % 3].im.store(numbers + (2 * i + 1) * VL);
      });
      StoredLink<V, VL, true> stored{numbers};
      body(stored);
    }
  }

  /// Result i += u chi, where chi is stored with so many lanes per word.
  template <class Link>
  inline __attribute__((always_inline)) void add(Link& u, const F* chi, int lanes, int i, int lane0) {
    Vector r[1];
    load(r[0], i, lane0);
    staggered::read_again(u);
    const site::SiteReader<F, V> stored(chi, lanes);
    staggered::add_hop(r, u, [&](Vector& h, int) QUARKSTAR_INLINE_LAMBDA {
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { h[c] = stored.component(c); });
    });
    store(r[0], i, lane0);
  }

  /// Fills moved_ where the hop crosses an edge.
  __attribute__((noinline)) void move(std::uint32_t entry, const std::uint32_t* faces_at, int d, int lane0) {
    with_stride<VL>(a_.stride[d / 2], [&](auto s) QUARKSTAR_INLINE_LAMBDA {
      for (int i = 0; i < group_.count; ++i)
        neighbours_.template cross<s>(moved_ + i * vector_words * VL, entry, faces_at, d, lane0, group_.vectors[i]);
    });
  }

  const Neighbours& neighbours_;
  const staggered::DslashArguments<F>& a_;
  Group group_{};
  alignas(64) T results_[most * 6 * W];
  alignas(64) F moved_[most * vector_words * VL];
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
