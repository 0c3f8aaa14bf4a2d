#pragma once
// CPU driver of the staggered Dslash: which vectors are done together, and what becomes of the results.
#include <cstddef>
#include <vector>

#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/site_stores.hpp"
#include "codelets/staggered/dslash_kernels.hpp"
#include "codelets/staggered/many_vectors.hpp"
#include "codelets/staggered/one_vector.hpp"

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

/// The vectors whose results somebody needs.
struct WantedVectors {
  int count = 0;
  int vector[staggered::most_vectors];
  WantedVectors(const std::int32_t* left_out, int vectors) {
    for (int v = 0; v < vectors; ++v)
      if (left_out == nullptr || left_out[v] == 0) vector[count++] = v;
  }
};

/// What becomes of the sum r of a vector's hops: diagonal x + scale r, into `out` and into the sums of its vector. at:
/// of lane0 in the fields.
template <class F, int W, int VL>
inline __attribute__((always_inline)) void finish(const staggered::DslashArguments<F>& a, F* out, std::size_t at,
                                                  int vector, const site::ColourVector<Pack<Real<F>, VL>>& r,
                                                  VectorSums<VL>& sums) {
  using V = Pack<Real<F>, VL>;
  const auto v = static_cast<std::size_t>(vector);
  const V scale = V::broadcast(a.scale[v]);
  site::ColourVector<V> z;
  site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = {scale * r[c].re, scale * r[c].im}; });
  if (a.x != nullptr) {
    const V diagonal = V::broadcast(a.diagonal[v]);
    const site::SiteReader<F, V> x(a.x + at, W);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> value = x.component(c);
      z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
    });
  }
  site::write_site<F>(out, W, z);
  if (a.sums.norm) {
    V norm = V::broadcast(0);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
    sums.norm[v].add(norm);
  }
  if (a.sums.dot) {
    const site::SiteReader<F, V> y(a.y + at, W);
    V dot = V::broadcast(0);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> value = y.component(c);
      dot = fma(value.im, z[c].im, fma(value.re, z[c].re, dot));
    });
    sums.dot[v].add(dot);
  }
}

/// Body of a Dslash kernel over list positions [begin, end). Prefetch: hops ahead, 0 or 1.
template <class F, int W, int VL, int LongReals, int Prefetch>
void dslash_range(const staggered::DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end,
                  const std::int32_t* left_out, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  using Many = ManyVectors<F, W, VL, LongReals, Prefetch>;
  constexpr int vector_words = staggered::vector_words<F>;
  const staggered::DslashArguments<F> a = arguments;
  const WantedVectors wanted(left_out, a.vectors);
  VectorSums<VL> totals(a.sums, a.vectors);
  SiteStores<F, W, vector_words, bool> stores(a.stream_out);
  ColourNeighbours<F, W, VL> neighbours{a, 0};
  Many many(neighbours);
  const auto site_at = [&a](std::int64_t i) -> std::size_t {
    return a.sites != nullptr ? a.sites[i] : static_cast<std::size_t>(i);
  };
  for (std::int64_t position = begin; position < end; ++position) {
    const std::size_t outer = site_at(position),
                      next = Prefetch > 0 ? site_at(position + 1 < end ? position + 1 : position) : 0;
    neighbours.position = position;
    const auto at = [&](int vector, int lane0) QUARKSTAR_INLINE_LAMBDA {
      return (outer * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(vector)) * (vector_words * W) +
             static_cast<std::size_t>(lane0);
    };
    if (wanted.count == 1) {
      const int vector = wanted.vector[0];
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        OneVectorHops<F, W, VL, LongReals, (Prefetch > 0)> hops{neighbours, outer, next, vector, lane0};
        site::ColourVector<V> r[1];
        staggered::dslash_term(r, hops);
        finish<F, W, VL>(a, stores.place(a.out + at(vector, lane0), lane0), at(vector, lane0), vector, r[0], totals);
      }
      stores.complete(a.out + at(vector, 0), vector_words);
      continue;
    }
    for (int first = 0; first < wanted.count; first += Many::most) {
      const int count = wanted.count - first < Many::most ? wanted.count - first : Many::most;
      many.compute(outer, next, wanted.vector + first, count);
      for (int i = 0; i < count; ++i) {
        const int vector = wanted.vector[first + i];
        for (int lane0 = 0; lane0 < W; lane0 += VL) {
          site::ColourVector<V> r;
          many.load(r, i, lane0);
          finish<F, W, VL>(a, stores.place(a.out + at(vector, lane0), lane0), at(vector, lane0), vector, r, totals);
        }
        stores.complete(a.out + at(vector, 0), vector_words);
      }
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
