#pragma once
// The hops of several vectors on CPUs where vectors lie in lanes: a number of a link is one for all lanes, and nothing
// crosses them. Two sites are done together: one site's results are too few to hide the latency of a fused
// multiply-add.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/arch/arch.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/lattice/neighbour_entry.hpp"
#include "codelets/spin/spin.hpp"

#include <algorithm>
#include <cstddef>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// r_v = sum over d of U_d chi_v(x + d) for groups of W vectors v at one or two sites x: eight hops over one site and,
/// where LongReals (0 or 18) > 0, eight over three, in the order of staggered::dslash_term(), whose bits the results
/// have. chi: [site][group][word][vector of the group]; links: [site][d][word]; faces: [position][group][word][vector of
/// the group]. A register holds VL vectors. Cost of a site and vector: 72 flop per hop. Each number of a link is loaded
/// once for VL vectors, each neighbour's vector is read once, results stay in registers. Links in half precision are
/// made floats once per site. Ahead: each hop asks for what the same hop of the next sites reads. Source: Follana et al.,
/// hep-lat/0610092.
template <class F, int W, int VL, int LongReals, bool Ahead>
class VectorsInLanes {
  static_assert(LongReals == 0 || LongReals == 18);
  using T = Real<F>;
  using V = Pack<T, VL>;
  using Vector = site::ColourVector<V>;
  static constexpr bool has_far = LongReals > 0;
  static constexpr int group_words = staggered::vector_words<F> * W;
  static constexpr int table_words = 8 * NumberFormat<F>::link_words(18);  ///< of the links of one length at a site

 public:
  explicit VectorsInLanes(const staggered::DslashArguments<F>& a) : a_(a), groups_(a.vectors / W) {}

  /// A site whose results are wanted.
  struct Place {
    std::size_t site;
    std::int64_t position;  ///< in the list of sites
  };

  /// The next compute() are for these sites, those after them for `next`.
  template <int Sites>
  void go_to(const Place (&places)[Sites], const Place (&next)[Sites]) {
    for (int s = 0; s < Sites; ++s) {
      places_[s] = places[s];
      next_[s] = next[s].site;
      prepare<0>(s, a_.links);
      if constexpr (has_far) prepare<1>(s, a_.far_links);
    }
  }

  /// All hops for vectors [lane0, lane0 + VL) of a group. first: it is the first of these sites.
  template <int Sites>
  inline __attribute__((always_inline)) void compute(Vector (&r)[Sites], int group, int lane0, bool first) const {
    for_numbers(r, [](V& number) QUARKSTAR_INLINE_LAMBDA { number = V::broadcast(0); });
    add_hops<0>(r, {a_.neighbours, a_.faces_at, a_.links}, group, lane0, first);
    if constexpr (has_far) {
      if constexpr (is_half<F>) for_numbers(r, [&](V& number) QUARKSTAR_INLINE_LAMBDA { number = V::broadcast(a_.near_factor) * number; });
      add_hops<1>(r, {a_.far, a_.far_at, a_.far_links}, group, lane0, first);
    }
  }

 private:
  static constexpr int most_sites = 2;

  /// Hops of one length.
  struct Table {
    const std::uint32_t *entries, *faces_at;
    const F* links;
  };

  /// Number k of a link and the distance of two links, as links() has them: in half precision all real parts of a site
  /// come before all imaginary ones.
  static constexpr int number(int k) { return is_half<F> ? k % 2 * table_words + k / 2 : k; }
  static constexpr int link_numbers = is_half<F> ? 9 : 18;

  template <int Sites, class Body>
  static inline __attribute__((always_inline)) void for_numbers(Vector (&r)[Sites], Body&& body) {
    site::unroll<Sites>([&](auto s) QUARKSTAR_INLINE_LAMBDA {
      site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        body(r[s][c].re);
        body(r[s][c].im);
      });
    });
  }

  template <int Kind>
  inline __attribute__((always_inline)) void prepare(int s, const F* links) {
    const F* p = links + places_[s].site * table_words;
    if constexpr (is_half<F>) {
      using Pairs = Pack<T, std::min(8, native_lanes<T>)>;
      T* const to = unpacked_[s][Kind];
      for (int i = 0; i < table_words; i += Pairs::lanes) {
        const site::Complex<Pairs> pair = Pairs::load_pair(p + i);
        pair.re.store(to + i);
        pair.im.store(to + table_words + i);
      }
    }
  }
  template <int Kind>
  inline __attribute__((always_inline)) const T* links(const Table& table, int s) const {
    if constexpr (is_half<F>) return unpacked_[s][Kind];
    else return table.links + places_[s].site * table_words;
  }

  inline __attribute__((always_inline)) const F* group_at(std::uint32_t entry, int group) const {
    const std::size_t at = static_cast<std::size_t>(entry >> neighbour_entry::shift) * static_cast<std::size_t>(groups_);
    return a_.in + (at + static_cast<std::size_t>(group)) * group_words;
  }

  /// The VL vectors of a neighbour, in the field or in a face.
  inline __attribute__((always_inline)) const F* neighbour(const Table& table, int s, int d, int group, int lane0) const {
    const Place& place = places_[s];
    const std::uint32_t entry = table.entries[place.site * 8 + static_cast<std::size_t>(d)];
    if (__builtin_expect((entry & neighbour_entry::face) == 0, 1)) return group_at(entry, group) + lane0;
    const std::size_t at = static_cast<std::size_t>(table.faces_at[place.position * 8 + d]) * static_cast<std::size_t>(groups_) +
                           static_cast<std::size_t>(group);
    return reinterpret_cast<const F*>(a_.faces[d]) + at * group_words + lane0;
  }

  /// Little by little, because a processor waits for few lines at a time: at each hop the part of its neighbour that
  /// lanes from lane0 on are of the whole, and a few lines of links.
  inline __attribute__((always_inline)) void ask(const Table& table, int s, int d, int group, int lane0, bool first) const {
    constexpr int passes = W / VL, lines = group_words * static_cast<int>(sizeof(F)) / 64;
    const auto* vectors = reinterpret_cast<const char*>(group_at(table.entries[next_[s] * 8 + static_cast<std::size_t>(d)], group));
    site::unroll<(lines + passes - 1) / passes>(
        [&](auto line) QUARKSTAR_INLINE_LAMBDA { __builtin_prefetch(vectors + 64 * (line * passes + lane0 / VL)); });
    if (!first) return;
    constexpr int link_lines = table_words * static_cast<int>(sizeof(F)) / 64;
    const auto* links = reinterpret_cast<const char*>(table.links + next_[s] * table_words);
    for (int line = d; line < link_lines; line += 8) __builtin_prefetch(links + 64 * line);
  }

  /// The eight hops of a table. A neighbour is read component by component: a register for each of its two parts and
  /// one for a link's number are what a processor with 16 of them has left beside the results of two sites.
  template <int Kind, int Sites>
  inline __attribute__((always_inline)) void add_hops(Vector (&r)[Sites], const Table& table, int group, int lane0, bool first) const {
    for (int d = 0; d < 8; ++d) {
      const F* from[Sites];
      const T* u[Sites];
      site::unroll<Sites>([&](auto s) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Ahead) ask(table, s, d, group, lane0, first);
        from[s] = neighbour(table, s, d, group, lane0);
        u[s] = links<Kind>(table, s) + d * link_numbers;
      });
      site::unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA {
        site::unroll<Sites>([&](auto s) QUARKSTAR_INLINE_LAMBDA {
          site::Complex<V> h = site::SiteReader<F, V>(from[s], W).component(column);
          hold_in_register(h.re.v);
          hold_in_register(h.im.v);
          site::unroll<3>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
            V re = V::broadcast(u[s][number(6 * row + 2 * column)]);
            hold_in_register(re.v);
            r[s][row] = {fma(re, h.re, r[s][row].re), fma(re, h.im, r[s][row].im)};
          });
          site::unroll<3>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
            V im = V::broadcast(u[s][number(6 * row + 2 * column + 1)]);
            hold_in_register(im.v);
            r[s][row] = {fnma(im, h.im, r[s][row].re), fma(im, h.re, r[s][row].im)};
          });
        });
      });
    }
  }

  const staggered::DslashArguments<F>& a_;
  int groups_;
  Place places_[most_sites]{};
  std::size_t next_[most_sites]{};
  alignas(64) T unpacked_[is_half<F> ? most_sites : 1][2][is_half<F> ? 2 * table_words : 1];
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
