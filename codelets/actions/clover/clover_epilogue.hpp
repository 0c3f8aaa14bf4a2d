#pragma once
// The (twisted) clover term at one site, written once for every architecture, GPU and number format.
#include "codelets/actions/clover/packed.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/stencil/site_term.hpp"

#include <cstddef>

namespace quarkstar::clover {

/// y = (P + i t) w for a packed hermitian 6x6 matrix P. 252 flop, with t 24 more.
template <class V, class Reader>
QUARKSTAR_HD void packed_times(site::Complex<V> (&y)[6], const Reader& p, const V& t, const site::Complex<V> (&w)[6]) {
  site::unroll<3>([&](auto k) QUARKSTAR_INLINE_LAMBDA {
    const site::Complex<V> two = p.component(k);
    const V d[2] = {two.re, two.im};
    site::unroll<2>([&](auto l) QUARKSTAR_INLINE_LAMBDA {
      constexpr int i = 2 * k + l;
      y[i] = {fnma(t, w[i].im, d[l] * w[i].re), fma(t, w[i].re, d[l] * w[i].im)};
    });
  });
  site::unroll<5>([&](auto above) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = above + 1;
    site::unroll<i>([&](auto j) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> entry = p.component(packed_entry(i, j) / 2);
      y[i] = multiply_add(entry, w[j], y[i]);
      y[j] = conjugate_multiply_add(entry, w[i], y[j]);
    });
  });
}

/// S = P + i t gamma_5 or, with a second field, (P + i t gamma_5) Q, with a t for each vector; P and Q are two packed hermitian blocks per
/// site, of spins 0, 1 and 2, 3, gamma_5 = diag(1, 1, -1, -1). Without a field P = 1: twisted mass without clover. 504 flop by the usual
/// count, with Q twice as many, without P 48.
struct CloverTerm {
  static constexpr const char* name = "clover";
  static constexpr double flops = 504, twist_flops = 48;
  static constexpr int record_reals = block_reals, records_per_site = blocks_per_site;
  template <class F>
  struct Arguments {
    const F *p, *q;  ///< [outer site][block][word][lane]; nullptr where there is none
    Real<F> t[most_vectors];
  };
  template <class F>
  static QUARKSTAR_HD const F* first_field(const Arguments<F>& a) {
    return a.p;
  }
  template <class F, class Task, class Fields>
  static void complete(Arguments<F>& a, const Task& task, const Fields& fields, std::size_t sites_before) {
    const std::size_t before = sites_before * blocks_per_site * static_cast<std::size_t>(NumberFormat<F>::site_words(block_reals));
    a.p = fields[0] != nullptr ? fields[0] + before : nullptr;
    a.q = fields[1] != nullptr ? fields[1] + before : nullptr;
    for (int v = 0; v < task.vectors; ++v) a.t[v] = static_cast<Real<F>>(task.numbers[static_cast<std::size_t>(v)]);
  }

  template <class V, class Epilogue, class Site>
  static QUARKSTAR_HD void apply(site::Complex<V> (&z)[12], const Epilogue& a, const Site& site) {
    const V zero = V::broadcast(0), t = site.coefficient(a.t);
    if (a.p == nullptr)
      return site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> w = z[c];
        if constexpr (c < 6) z[c] = {fnma(t, w.im, w.re), fma(t, w.re, w.im)};
        else z[c] = {fma(t, w.im, w.re), fnma(t, w.re, w.im)};
      });
    const V of_block[blocks_per_site] = {t, -t};
    if (a.q != nullptr)
      site::unroll<blocks_per_site>([&](auto block) QUARKSTAR_INLINE_LAMBDA { times_block<block, 1>(z, a.q, zero, site); });
    site::unroll<blocks_per_site>([&](auto block) QUARKSTAR_INLINE_LAMBDA { times_block<block, 0>(z, a.p, of_block[block], site); });
  }

 private:
  template <int Block, int Number, class V, class F, class Site>
  static QUARKSTAR_HD void times_block(site::Complex<V> (&z)[12], const F* field, const V& t, const Site& site) {
    site::Complex<V> w[6], y[6];
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA { w[c] = z[6 * Block + c]; });
    site.template with_record<block_reals, blocks_per_site, Number>(
        field, Block, [&](const auto& packed) QUARKSTAR_INLINE_LAMBDA { packed_times(y, packed, t, w); });
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[6 * Block + c] = y[c]; });
  }
};
using Epilogue = stencil::SiteTermEpilogue<CloverTerm>;

}  // namespace quarkstar::clover
