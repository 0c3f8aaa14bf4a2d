#pragma once
// CPU driver of the Wilson hopping term for several right-hand sides. Their results wait in the first-level cache, and each hop is done for
// all of them: its link is read, and completed to 18 numbers, once, and a neighbour's vectors, which lie side by side in memory, are read
// one after the other.
#include "codelets/actions/wilson/hopping_cpu.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Hops::of_vectors: r_v = (H in_v)(x) for the vectors v of a group at one outer site x of W lanes, with the operations and so the bits of
/// wilson::hopping_term(). in: [outer site][vector][word][lane]; links: [outer site][direction][word][lane].
/// Cost of a site (lane) and vector: 1320 flop. Each link is read from memory and completed once for all vectors, and read from the
/// first-level cache once, or, where registers do not hold it, once for each spin and vector; each neighbour's vector is read once, and its
/// result loaded and stored at each hop in the first-level cache. Source: Gattringer & Lang, ch. 5.
template <class F, int W, int VL>
class ManySpinors {
  using T = Real<F>;
  using V = Pack<T, VL>;
  using Arguments = wilson::HoppingArguments<F>;
  using Group = wilson::VectorsOfSite;
  static constexpr int site_words = spinor_words<F> * W;
  // 18 registers for the link, 6 for a spin of a neighbour, 6 for its product. Narrow blocks, which are rare, have half as many kernels.
  static constexpr bool link_fits = vector_registers >= 32 && fills_registers<F, W>;
  static constexpr int links_ahead = 4;  // hops

 public:
  static void compute(const Arguments& a, const wilson::Hops<F>& hops, const Group& group, std::int64_t position, const Group& next,
                      T* results) {
    const int reals = hops.link_reals;
    const auto link_words = reals == 18   ? NumberFormat<F>::link_words(18)
                            : reals == 12 ? NumberFormat<F>::link_words(12)
                                          : NumberFormat<F>::link_words(8);
    const auto link_size = static_cast<std::size_t>(link_words * W);
    const auto complete_link = reals == 18 ? complete<18> : reals == 12 ? complete<12> : complete<8>;
    const Hop* const hop_functions = hops.sign > 0 ? hops_of_sign<1>.data() : hops_of_sign<-1>.data();
    const std::uint32_t *const entries = a.neighbours + group.outer * 8, *const next_entries = a.neighbours + next.outer * 8;
    const F *const links = a.links + group.outer * 8 * link_size, *const next_links = a.links + next.outer * 8 * link_size;
    if (hops.first != 0) std::fill(results, results + group.count * 24 * W, T{0});  // the first hop of all stores, others add
    for (int d = hops.first; d < hops.end; ++d) {
      const int ahead = d + links_ahead;
      const F* const link = links + static_cast<std::size_t>(d) * link_size;
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        alignas(64) T numbers[18 * VL];
        complete_link(numbers, link + lane0);
        Ahead lines{};
        if (hops.prefetch > 0 && lane0 == 0)
          lines = Ahead(vectors_at(a, d < 7 ? entries[d + 1] : next_entries[0]), d < 7 ? group : next,
                        ahead < 8 ? links + ahead * link_size : next_links + (ahead - 8) * link_size, link_size,
                        hops.stream ? nullptr : results_at(a, group.outer), group, d);
        const Place place{a, entries, a.faces_at + position * 8, lane0, group};
        hop_functions[d + ((entries[d] & 7u) != 0 ? 8 : 0)](place, numbers, results + lane0 * 24, lines);
      }
    }
  }

 private:
  /// What is needed next is asked for little by little, because a processor waits for few lines at a time: with each vector the same vector
  /// of the next hop, some lines of the link that comes a few hops later, and an eighth of the lines where the vector's result will be
  /// stored (plain stores read what they overwrite; all at once, behind the last hop, they would wait for memory).
  class Ahead {
   public:
    Ahead() = default;
    Ahead(const F* in, const Group& next, const F* link, std::size_t link_size, const F* results, const Group& group, int direction)
        : in_(in),
          vectors_(next.vectors),
          count_(next.count),
          line_(reinterpret_cast<const char*>(link)),
          end_(line_ + link_size * sizeof(F)),
          bytes_a_vector_((end_ - line_ + group.count - 1) / group.count),
          results_(results != nullptr ? reinterpret_cast<const char*>(results) + 64 * (result_lines * direction / 8) : nullptr),
          results_of_(group.vectors) {}
    inline __attribute__((always_inline)) void ask(int i) {
      if (i < count_) prefetch_words<W, spinor_words<F>>(in_ + static_cast<std::size_t>(vectors_[i]) * site_words);
      for (const char* end = std::min(line_ + bytes_a_vector_, end_); line_ < end; line_ += 64) ask_for_line(line_);
      if (results_ != nullptr) {
        const char* result = results_ + static_cast<std::size_t>(results_of_[i]) * site_words * sizeof(F);
        site::unroll<(result_lines + 7) / 8>([&](auto line) QUARKSTAR_INLINE_LAMBDA { ask_for_line(result + 64 * line); });
      }
    }

   private:
    static constexpr int result_lines = (site_words * static_cast<int>(sizeof(F)) + 63) / 64;  // of one vector
    const F* in_;
    const int* vectors_;
    int count_ = 0;
    const char *line_ = nullptr, *end_ = nullptr;
    std::ptrdiff_t bytes_a_vector_ = 0;
    const char* results_ = nullptr;
    const int* results_of_ = nullptr;
  };

  /// Lanes [lane0, lane0 + VL) of a group.
  struct Place {
    const Arguments& a;
    const std::uint32_t *entries, *faces_at;
    int lane0;
    const Group& group;
  };
  using Hop = void (*)(const Place& place, const T* link, T* results, Ahead ahead);

  /// The 18 numbers of a link, for lanes from where it is stored at `from` on.
  template <int Reals>
  static void complete(T* numbers, const F* from) {
    site::Link<V> u;
    site::load_link<F, Reals, site::PlainLoads>(u, from, W);
    site::unroll<9>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      u[i / 3][i % 3].re.store(numbers + 2 * i * VL);
      u[i / 3][i % 3].im.store(numbers + (2 * i + 1) * VL);
    });
  }

  /// Vectors of the outer site that an entry names.
  static const F* vectors_at(const Arguments& a, std::uint32_t entry) {
    return a.in + static_cast<std::size_t>(entry >> neighbour_entry::shift) * static_cast<std::size_t>(a.vectors) * site_words;
  }

  static const F* results_at(const Arguments& a, std::size_t outer) {
    return a.out + outer * static_cast<std::size_t>(a.vectors) * site_words;
  }

  /// One hop for the vectors of a group. One function for every format of links, so that there are few. A hop that may cross an edge has
  /// the link in memory: around the calls that this may take a compiler would store all registers.
  template <int D, int Sign, bool MayCross>
  static void hop(const Place& place, const T* link, T* results, Ahead ahead) {
    std::conditional_t<link_fits && !MayCross, LinkInRegisters<V>, LinkInMemory<T, 18, VL, V>> u(link);
    CpuNeighbours<F, W, VL, 18, OneOfVectors<MayCross>> neighbours{
        place.a,     place.entries, place.faces_at,
        nullptr,     nullptr,       nullptr,
        place.lane0, false,         {static_cast<std::size_t>(place.a.vectors), 0}};
    for (int i = 0; i < place.group.count; ++i) {
      ahead.ask(i);
      neighbours.vector.vector = static_cast<std::size_t>(place.group.vectors[i]);
      add_direction_by_spins<D, Sign, F, W, V>(ResultWords<V>(results + i * 24 * W), u, neighbours);
    }
  }
  /// Of eight hops that cross no edge, then of eight that may.
  template <int Sign, int... D>
  static constexpr std::array<Hop, 16> hops_of(std::integer_sequence<int, D...>) {
    return {hop<D, Sign, !link_fits>..., hop<D, Sign, true>...};
  }
  template <int Sign>
  static constexpr std::array<Hop, 16> hops_of_sign = hops_of<Sign>(std::make_integer_sequence<int, 8>{});
};

template <class F, int W, int VL>
void hops_of_vectors(const wilson::HoppingArguments<F>& a, const wilson::Hops<F>& hops, const wilson::VectorsOfSite& group,
                     std::int64_t position, const wilson::VectorsOfSite& next, Real<F>* results) {
  ManySpinors<F, W, VL>::compute(a, hops, group, position, next, results);
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the hops of one format, for every count of lanes (LaneCounts).
#define QUARKSTAR_HOPS_OF_LANES(F, W)                                                                                               \
  template void hops_of_vectors<F, W, vector_lanes<F, W>>(const wilson::HoppingArguments<F>&, const wilson::Hops<F>&,               \
                                                          const wilson::VectorsOfSite&, std::int64_t, const wilson::VectorsOfSite&, \
                                                          Real<F>*);
#define QUARKSTAR_HOPS_OF_VECTORS(F)                    \
  namespace quarkstar::QUARKSTAR_ARCH_NAME {            \
  QUARKSTAR_HOPS_OF_LANES(F, 64 / int{sizeof(Real<F>)}) \
  QUARKSTAR_HOPS_OF_LANES(F, 32 / int{sizeof(Real<F>)}) \
  QUARKSTAR_HOPS_OF_LANES(F, 1)                         \
  }
