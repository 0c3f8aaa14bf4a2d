#pragma once
// CPU driver of the staggered Dslash: which vectors are done together, and what becomes of the results.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/staggered/dslash_output.hpp"
#include "codelets/actions/staggered/many_vectors.hpp"
#include "codelets/actions/staggered/one_vector.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/site_stores.hpp"
#include "codelets/arch/usual_block.hpp"
#include "codelets/arch/wanted_vectors.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

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

/// finish() for a vector with sites in the lanes.
template <class F, int W, int VL>
inline __attribute__((always_inline)) void finish_vector(const staggered::DslashArguments<F>& a, F* out, std::size_t at, int vector,
                                                         const site::ColourVector<Pack<Real<F>, VL>>& r, VectorSums<VL>& sums) {
  const auto v = static_cast<std::size_t>(vector);
  const auto of_all_lanes = [v](const Real<F>(&values)[most_vectors])
                                QUARKSTAR_INLINE_LAMBDA { return Pack<Real<F>, VL>::broadcast(values[v]); };
  finish<F, W, VL>(a, out, at, of_all_lanes, r, sums, v);
}

/// All of dslash_range() for one of the vectors. A function of its own: registers are short, and the other one's
/// pointers would take some.
template <class F, int W, int VL, int LongReals, int Prefetch>
__attribute__((noinline)) void one_vector_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end,
                                                int vector, VectorSums<VL>& totals) {
  const staggered::DslashArguments<F> a = arguments;
  SiteStores<F, W, staggered::vector_words<F>> stores(a.stream_out);
  ColourNeighbours<F, W, VL> neighbours{a, 0};
  const ListedSites<F, W> sites{a};
  for (std::int64_t position = begin; position < end; ++position) {
    const std::size_t outer = sites[position], next = Prefetch > 0 ? sites[std::min(position + 1, end - 1)] : 0;
    neighbours.position = position;
    for (int lane0 = 0; lane0 < W; lane0 += VL) {
      OneVectorHops<F, W, VL, LongReals, (Prefetch > 0)> hops{neighbours, outer, next, vector, lane0};
      site::ColourVector<Pack<Real<F>, VL>> r[1];
      staggered::dslash_term(r, hops);
      const std::size_t at = sites.at(outer, a.vectors, vector, lane0);
      finish_vector<F, W, VL>(a, stores.place(a.out + at, lane0), at, vector, r[0], totals);
    }
    stores.complete(a.out + sites.at(outer, a.vectors, vector, 0));
  }
  stores.finish();
}

/// The same for several.
template <class F, int W, int VL, int LongReals, int Prefetch>
__attribute__((noinline)) void many_vectors_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end,
                                                  const WantedVectors<most_vectors>& wanted, VectorSums<VL>& totals) {
  using Many = ManyVectors<F, W, VL, LongReals, Prefetch>;
  const staggered::DslashArguments<F> a = arguments;
  SiteStores<F, W, staggered::vector_words<F>> stores(a.stream_out);
  ColourNeighbours<F, W, VL> neighbours{a, 0};
  Many many(neighbours);
  const ListedSites<F, W> sites{a};
  const auto group_from = [&wanted](std::size_t site, int first) -> typename Many::Group {
    return {site, wanted.vector + first, std::min(wanted.count - first, Many::most)};
  };
  for (std::int64_t position = begin; position < end; ++position) {
    const std::size_t outer = sites[position], next = Prefetch > 0 ? sites[std::min(position + 1, end - 1)] : 0;
    neighbours.position = position;
    for (int first = 0; first < wanted.count; first += Many::most) {
      const bool last = first + Many::most >= wanted.count;
      const typename Many::Group group = group_from(outer, first);
      many.compute(group, last ? group_from(next, 0) : group_from(outer, first + Many::most));
      for (int i = 0; i < group.count; ++i) {
        const int vector = group.vectors[i];
        for (int lane0 = 0; lane0 < W; lane0 += VL) {
          site::ColourVector<Pack<Real<F>, VL>> r;
          many.load(r, i, lane0);
          const std::size_t at = sites.at(outer, a.vectors, vector, lane0);
          finish_vector<F, W, VL>(a, stores.place(a.out + at, lane0), at, vector, r, totals);
        }
        stores.complete(a.out + sites.at(outer, a.vectors, vector, 0));
      }
    }
  }
  stores.finish();
}

/// Body of a Dslash kernel over list positions [begin, end). Prefetch: 0 or 1, a hop ahead. Rare blocks have no kernel of their own for one
/// vector.
template <class F, int W, int VL, int LongReals, int Prefetch>
void dslash_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                  runtime::BinnedSum* sums) {
  const WantedVectors<most_vectors> wanted(left_out, arguments.vectors);
  VectorSums<VL> totals(arguments.sums, arguments.vectors);
  const bool alone = is_usual_block<F, W> && wanted.count == 1;
  if constexpr (is_usual_block<F, W>)
    if (alone) one_vector_range<F, W, VL, LongReals, Prefetch>(arguments, begin, end, wanted.vector[0], totals);
  if (!alone) many_vectors_range<F, W, VL, LongReals, Prefetch>(arguments, begin, end, wanted, totals);
  totals.merge_into(sums);
}

/// Body of a pack kernel: stored words of the lanes on the edge.
template <class F, int W, int VL, bool Forward>
void colour_pack_range(const staggered::PackArguments<F>& a, std::int64_t begin, std::int64_t end) {
  using T = Real<F>;
  using V = Pack<T, VL>;
  constexpr int words = staggered::vector_words<F>;
  const int width = face_lanes<W>(a.stride);
  for (std::int64_t i = begin; i < end; ++i)
    for (int v = 0; v < a.vectors; ++v)
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        if (misses_face<VL, Forward>(a.stride, lane0)) continue;
        const std::size_t at = static_cast<std::size_t>(a.sites[i]) * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(v);
        const T* const from = reinterpret_cast<const T*>(a.in + at * (words * W) + lane0);
        store_face<W, VL, words / 2, Forward>(a.out + (i * a.vectors + v) * words * width, a.stride, lane0,
                                              [&](auto pair) QUARKSTAR_INLINE_LAMBDA {
                                                return site::Complex<V>{V::load(from + 2 * pair * W), V::load(from + (2 * pair + 1) * W)};
                                              });
      }
}

template <class F, int LongReals, int... Ws>
staggered::DslashKernel<F> find_dslash(int lanes, int prefetch, std::integer_sequence<int, Ws...>) {
  staggered::DslashKernel<F> found = nullptr;
  const auto consider = [&](auto w) {
    if (lanes != w) return;
    found = with_prefetch<F, w, 0>(
        prefetch, [&](auto hops) -> staggered::DslashKernel<F> { return dslash_range<F, w, vector_lanes<F, w>, LongReals, hops>; });
  };
  (consider(site::Index<Ws>{}), ...);
  return found;
}

template <class F, int... Ws>
staggered::PackKernel<F> find_colour_pack(int lanes, bool forward, std::integer_sequence<int, Ws...>) {
  staggered::PackKernel<F> found = nullptr;
  ((lanes == Ws
        ? void(found = forward ? colour_pack_range<F, Ws, vector_lanes<F, Ws>, true> : colour_pack_range<F, Ws, vector_lanes<F, Ws>, false>)
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
