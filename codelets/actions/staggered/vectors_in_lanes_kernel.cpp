// CPU driver of the staggered Dslash with vectors in lanes (vectors_in_lanes.hpp).
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/staggered/dslash_output.hpp"
#include "codelets/actions/staggered/vectors_in_lanes.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/site_stores.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

/// Sums of every vector, gathered over a range of sites: one SumOfEachLane for VL vectors.
template <int VL>
struct SumsInLanes {
  std::vector<SumOfEachLane<VL>> norm, dot;
  SumsInLanes(const staggered::OutputSums& sums, int vectors, const std::int32_t* left_out) {
    for (int v = 0; v < vectors; v += VL) {
      const SumOfEachLane<VL> empty(left_out != nullptr ? left_out + v : nullptr);
      if (sums.norm) norm.push_back(empty);
      if (sums.dot) dot.push_back(empty);
    }
  }
  void merge_into(runtime::BinnedSum* sums) {
    for (auto* all : {&norm, &dot})
      for (SumOfEachLane<VL>& sum : *all) {
        sum.merge_into(sums);
        sums += VL;
      }
  }
};

/// Groups of W vectors of which somebody needs a result.
template <int W>
std::vector<int> wanted_groups(const std::int32_t* left_out, int vectors) {
  std::vector<int> groups;
  for (int g = 0; g < vectors / W; ++g)
    if (left_out == nullptr || std::any_of(left_out + g * W, left_out + (g + 1) * W, [](std::int32_t out) { return out == 0; }))
      groups.push_back(g);
  return groups;
}

/// Body of a Dslash kernel over list positions [begin, end). Vectors that are left out are computed with their group.
template <class F, int W, int VL, int LongReals, int Prefetch>
void vectors_in_lanes_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end,
                            const std::int32_t* left_out, runtime::BinnedSum* sums) {
  using T = Real<F>;
  using Hops = VectorsInLanes<F, W, VL, LongReals, (Prefetch > 0)>;
  using Place = typename Hops::Place;
  // A group fills whole lines also where a word of it does not.
  constexpr int line = 64 / static_cast<int>(sizeof(T)), group_lines = staggered::vector_words<F> * W / line;
  const staggered::DslashArguments<F> a = arguments;
  const std::vector<int> groups = wanted_groups<W>(left_out, a.vectors);
  SumsInLanes<VL> totals(a.sums, a.vectors, left_out);
  SiteStores<F, line, group_lines> stores[2] = {SiteStores<F, line, group_lines>(a.stream_out),
                                                SiteStores<F, line, group_lines>(a.stream_out)};
  Hops hops(a);
  const ListedSites<F, W> sites{a};
  const auto place = [&](std::int64_t position) -> Place {
    const std::int64_t known = std::min(position, end - 1);
    return {sites[known], known};
  };
  const auto compute = [&]<int Sites>(const Place(&places)[Sites], const Place(&next)[Sites]) {
    hops.go_to(places, next);
    for (const int group : groups) {
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        site::ColourVector<Pack<T, VL>> r[Sites];
        hops.compute(r, group, lane0, group == groups.front() && lane0 == 0);
        const auto first = static_cast<std::size_t>(group * W + lane0);
        const auto of_each_lane = [first](const T(&values)[most_vectors])
                                      QUARKSTAR_INLINE_LAMBDA { return Pack<T, VL>::load(values + first); };
        site::unroll<Sites>([&](auto s) QUARKSTAR_INLINE_LAMBDA {
          const std::size_t at = sites.at(places[s].site, a.vectors / W, group, lane0);
          finish<F, W, VL>(a, stores[s].place(a.out + at, lane0), at, of_each_lane, r[s], totals, first / VL);
        });
      }
      site::unroll<Sites>([&](auto s)
                              QUARKSTAR_INLINE_LAMBDA { stores[s].complete(a.out + sites.at(places[s].site, a.vectors / W, group, 0)); });
    }
  };
  std::int64_t position = begin;
  for (; position + 1 < end; position += 2) compute({place(position), place(position + 1)}, {place(position + 2), place(position + 3)});
  if (position < end) compute({place(position)}, {place(position)});
  stores[0].finish();
  totals.merge_into(sums);
}

template <class F, int LongReals, int... Ws>
staggered::DslashKernel<F> find_vectors_in_lanes(int vectors_in_lanes, int prefetch, std::integer_sequence<int, Ws...>) {
  constexpr int line = 64 / static_cast<int>(sizeof(Real<F>));
  staggered::DslashKernel<F> found = nullptr;
  const auto consider = [&](auto w) {
    if (vectors_in_lanes != w) return;
    found = with_prefetch<F, line, 0>(prefetch, [&](auto hops) -> staggered::DslashKernel<F> {
      return vectors_in_lanes_range<F, w, vector_lanes<F, w>, LongReals, hops>;
    });
  };
  (consider(site::Index<Ws>{}), ...);
  return found;
}

}  // namespace

template <class F, int LongReals>
staggered::DslashKernel<F> vectors_in_lanes_kernel(int vectors_in_lanes, int prefetch) {
  using Counts = std::conditional_t<sizeof(Real<F>) == 8, std::integer_sequence<int, 8>, std::integer_sequence<int, 16, 8>>;
  return find_vectors_in_lanes<F, LongReals>(vectors_in_lanes, prefetch, Counts{});
}

#define QUARKSTAR_VECTORS_IN_LANES(F)                                          \
  template staggered::DslashKernel<F> vectors_in_lanes_kernel<F, 0>(int, int); \
  template staggered::DslashKernel<F> vectors_in_lanes_kernel<F, 18>(int, int);
QUARKSTAR_VECTORS_IN_LANES(Half)
QUARKSTAR_VECTORS_IN_LANES(float)
QUARKSTAR_VECTORS_IN_LANES(double)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
