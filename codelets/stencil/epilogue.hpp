#pragma once
// What becomes of the sum of hops at one site before it is stored and summed: the template argument of the site kernels.
#include "codelets/arch/unroll.hpp"
#include "codelets/su3/complex.hpp"

namespace quarkstar::stencil {

/// out_v = diagonal_v x_v + scale_v r_v, r the sum of hops; without x: scale_v r_v. 2 flop for each real, with x 4.
///
/// An epilogue is a struct without data. Arguments<F>: numbers and pointers of its own, behind those of the operator as `epilogue` (empty:
/// none). apply(z, a, site) turns the sum of hops z of one vector at one site into what is stored; V: a pack of lanes on a CPU, a Lane on a
/// GPU. The driver's `site` supplies
///   coefficient(values): values[vector], for these lanes;
///   with_x(body): calls body(reader) for x at this site, reader.component(c) being its components;
///   with_record<Reals, Records, Number>(field, i, body): calls body(reader) for record i of Reals reals of a SiteField whose sites have
///   Records of them, the epilogue's field of that number.
/// Records: what a site of its first field has, record_reals and records_per_site, and where it is, first_field(arguments), for drivers
/// that read it once for several vectors; may be missing.
struct LinearEpilogue {
  template <class F>
  struct Arguments {};

  template <class V, int N, class OfOperator, class Site>
  static QUARKSTAR_HD void apply(site::Complex<V> (&z)[N], const OfOperator& a, const Site& site) {
    const V scale = site.coefficient(a.scale);
    site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = {scale * z[c].re, scale * z[c].im}; });
    if (a.x == nullptr) return;
    const V diagonal = site.coefficient(a.diagonal);
    site.with_x([&](const auto& x) QUARKSTAR_INLINE_LAMBDA {
      site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> value = x.component(c);
        z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
      });
    });
  }
};

}  // namespace quarkstar::stencil
