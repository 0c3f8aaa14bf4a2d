#pragma once
// CPU driver of operators with Wilson's hops: the loop over sites, in which an epilogue makes of the hops' sum what is stored and summed.
// Included and instantiated in the folder of the action whose epilogue it is. The hops are compiled once for all (hopping_cpu.hpp,
// hopping_many.hpp).
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/site_stores.hpp"
#include "codelets/arch/usual_block.hpp"
#include "codelets/arch/wanted_vectors.hpp"
#include "codelets/stencil/without_hops.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// What becomes of the hops' sum z of one vector: the epilogue's result, into `out` and into the sums. sum(0), sum(1), sum(2): its LaneSum
/// of the norm and of the real and imaginary part of the dot.
template <class Epilogue, class F, class V, class Arguments, class Sum>
inline __attribute__((always_inline)) void finish(const Arguments& a, F* out, const SiteOfBlock<F, V>& site, site::Complex<V> (&z)[12],
                                                  Sum&& sum) {
  Epilogue::apply(z, a, site);
  site::write_site<F>(out, site.lanes, z);
  if (a.sums.norm) {
    V norm = V::broadcast(0);
    site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
    sum(0).add(norm);
  }
  if (a.sums.dot) {
    const site::SiteReader<F, V> y(a.y + site.at, site.lanes);
    V dot_re = V::broadcast(0), dot_im = dot_re;
    site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> value = y.component(c);
      dot_re = fma(value.im, z[c].im, fma(value.re, z[c].re, dot_re));
      dot_im = fnma(value.im, z[c].re, fma(value.re, z[c].im, dot_im));
    });
    sum(1).add(dot_re);
    if (a.sums.imaginary) sum(2).add(dot_im);
  }
}

template <class V>
inline __attribute__((always_inline)) void load_sums_of_hops(site::Complex<V> (&z)[12], const typename V::Number* r) {
  site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = {V::load(r + 2 * c * V::lanes), V::load(r + (2 * c + 1) * V::lanes)}; });
}

/// For one vector, over list positions [begin, end).
template <class F, int W, int VL, class Epilogue>
__attribute__((noinline)) void one_vector_range(const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t begin, std::int64_t end,
                                                runtime::BinnedSum* sums, const wilson::Hops<F>& hops) {
  using V = Pack<Real<F>, VL>;
  const wilson::ArgumentsOf<F, Epilogue> a = arguments;
  const auto hops_of_site = hops.of_one_vector;
  SiteStores<F, W, spinor_words<F>> stores(hops.stream);
  LaneSum<VL> totals[3];
  const auto site_at = [&a](std::int64_t i) { return a.sites != nullptr ? a.sites[i] : static_cast<std::uint32_t>(i); };
  for (std::int64_t i = begin; i < end; ++i) {
    const std::size_t outer = site_at(i), next = site_at(i + 1 < end ? i + 1 : i);
    for (int lane0 = 0; lane0 < W; lane0 += VL) {
      alignas(64) Real<F> r[24 * VL];
      hops_of_site(arguments, {outer, hops.prefetch > 0 && lane0 == 0 ? next : wilson::no_site, i, lane0}, r);
      site::Complex<V> z[12];
      load_sums_of_hops<V>(z, r);
      const std::size_t at = outer * (spinor_words<F> * W) + static_cast<std::size_t>(lane0);
      finish<Epilogue>(a, stores.place(a.out + at, lane0), SiteOfBlock<F, V>{a.x, outer, at, 0, W, lane0}, z,
                       [&totals](int which) QUARKSTAR_INLINE_LAMBDA -> LaneSum<VL>& { return totals[which]; });
    }
    stores.complete(a.out + outer * (spinor_words<F> * W));
  }
  stores.finish();
  if (a.sums.norm) (sums++)->merge(totals[0].total());
  if (a.sums.dot) {
    sums[0].merge(totals[1].total());
    if (a.sums.imaginary) sums[1].merge(totals[2].total());
  }
}

/// Calls done(k, r) with the hops' sums r of each vectors[k] at position i of a list that ends before `end`. room: for so many places.
template <class F, class Done>
void hops_of_site(const wilson::HoppingArguments<F>& a, const wilson::Hops<F>& hops, std::int64_t i, std::int64_t end, const int* vectors,
                  int count, Real<F>* room, int places, Done& done) {
  const auto site_at = [&a](std::int64_t at) { return a.sites != nullptr ? a.sites[at] : static_cast<std::size_t>(at); };
  hops.of_vectors(a, hops, {site_at(i), site_at(i + 1 < end ? i + 1 : i), i, 0}, vectors, count,
                  {room, places, [](void* of, int k, const Real<F>* r) { (*static_cast<Done*>(of))(k, r); }, &done});
}

/// The same for several.
template <class F, int W, int VL, class Epilogue>
__attribute__((noinline)) void many_vectors_range(const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t begin, std::int64_t end,
                                                  const std::int32_t* left_out, runtime::BinnedSum* sums, const wilson::Hops<F>& hops) {
  using V = Pack<Real<F>, VL>;
  const wilson::ArgumentsOf<F, Epilogue> a = arguments;
  const WantedVectors<most_vectors> wanted(left_out, a.vectors);
  if (wanted.count == 0) return;
  SiteStores<F, W, spinor_words<F>> stores(hops.stream);
  const auto n = static_cast<std::size_t>(a.vectors);
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(a.sums.count(a.vectors)));
  const std::size_t without_norm = a.sums.norm ? 0 : n;
  alignas(64) Real<F> sum_of_hops[24 * W];
  for (std::int64_t i = begin; i < end; ++i) {
    const std::size_t outer = a.sites != nullptr ? a.sites[i] : static_cast<std::size_t>(i);
    auto finish_vector = [&](int k, const Real<F>* r) {
      const auto v = static_cast<std::size_t>(wanted.vector[k]);
      const std::size_t place = (outer * n + v) * (spinor_words<F> * W);
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        site::Complex<V> z[12];
        load_sums_of_hops<V>(z, r + lane0 * 24);
        const std::size_t at = place + static_cast<std::size_t>(lane0);
        finish<Epilogue>(a, stores.place(a.out + at, lane0), SiteOfBlock<F, V>{a.x, outer, at, v, W, lane0}, z,
                         [&](int which) QUARKSTAR_INLINE_LAMBDA -> LaneSum<VL>& {
                           return totals[static_cast<std::size_t>(which) * n - without_norm + v];
                         });
      }
      stores.complete(a.out + place);
    };
    hops_of_site<F>(arguments, hops, i, end, wanted.vector, wanted.count, sum_of_hops, 1, finish_vector);
  }
  stores.finish();
  for (LaneSum<VL>& total : totals) (sums++)->merge(total.total());
}

template <class F, int W, int VL, class Epilogue>
void sites_range(const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                 runtime::BinnedSum* sums, const wilson::Hops<F>& hops) {
  if constexpr (is_usual_block<F, W>)
    if (arguments.vectors == 1 && hops.end - hops.first == 8) {
      if (left_out == nullptr || left_out[0] == 0) one_vector_range<F, W, VL, Epilogue>(arguments, begin, end, sums, hops);
      return;
    }
  many_vectors_range<F, W, VL, Epilogue>(arguments, begin, end, left_out, sums, hops);
}

template <class F, class Epilogue>
wilson::HoppingKernel<F, Epilogue> hopping_kernel(const wilson::KernelChoice& choice) {
  wilson::HoppingKernel<F, Epilogue> found{nullptr, hops_of<F>(choice)};
  const auto over_lanes = [&](auto w) {
    if (choice.lanes == w) found.range = sites_range<F, w, vector_lanes<F, w>, Epilogue>;
  };
  [&]<int... Ws>(std::integer_sequence<int, Ws...>) { (over_lanes(site::Index<Ws>{}), ...); }
  (LaneCounts<F>{});
  return found;
}

template <class F, class Epilogue>
wilson::EpilogueKernel<F, Epilogue> epilogue_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) -> wilson::EpilogueKernel<F, Epilogue> {
    return without_hops_range<12, Epilogue, F, width(), wilson::ArgumentsOf<F, Epilogue>>;
  });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the kernels with an epilogue in one format.
#define QUARKSTAR_HOPPING_KERNELS(F, ...)                                                                                   \
  template quarkstar::wilson::HoppingKernel<F, __VA_ARGS__> quarkstar::QUARKSTAR_ARCH_NAME::hopping_kernel<F, __VA_ARGS__>( \
      const quarkstar::wilson::KernelChoice&);

/// The kernels with an epilogue that is not linear, and the epilogue without hops, in all formats.
#define QUARKSTAR_EPILOGUE_KERNELS_OF(F, ...) \
  QUARKSTAR_HOPPING_KERNELS(F, __VA_ARGS__)   \
  template quarkstar::wilson::EpilogueKernel<F, __VA_ARGS__> quarkstar::QUARKSTAR_ARCH_NAME::epilogue_kernel<F, __VA_ARGS__>(int);
#define QUARKSTAR_EPILOGUE_KERNELS(...)                       \
  QUARKSTAR_EPILOGUE_KERNELS_OF(quarkstar::Half, __VA_ARGS__) \
  QUARKSTAR_EPILOGUE_KERNELS_OF(float, __VA_ARGS__)           \
  QUARKSTAR_EPILOGUE_KERNELS_OF(double, __VA_ARGS__)
