#pragma once
// The epilogue of actions with a matrix S per site beside the hops, M = S - h H: in every product of their even-odd systems S, or its
// inverse, stands before x, before the hops, or before both.
#include "codelets/stencil/epilogue.hpp"

namespace quarkstar::stencil {

/// EpilogueOptions::form: what S multiplies.
enum SiteTermForm : int { on_neither = 0, on_x = 1, on_hops = 2, on_both = 3 };

/// out_v = [S_v] diagonal_v x_v + [S_v] scale_v r_v. Term: name, flops; Arguments<F> and complete<F>(arguments, task, fields, before) as of
/// an epilogue (stencil/run.hpp); apply(z, arguments, site): z <- S z; Records as an epilogue's, where it has fields.
template <class Term>
struct SiteTermEpilogue {
  using Records = Term;
  static constexpr const char* name = Term::name;
  static constexpr double flops = Term::flops;
  template <class F>
  struct Arguments : Term::template Arguments<F> {
    int form;
  };
  template <class F, class Task, class Fields>
  static void complete(Arguments<F>& a, const Task& task, const Fields& fields, std::size_t sites_before) {
    a.form = task.form;
    Term::template complete<F>(a, task, fields, sites_before);
  }

  template <class V, int N, class OfOperator, class Site>
  static QUARKSTAR_HD void apply(site::Complex<V> (&z)[N], const OfOperator& a, const Site& site) {
    const int form = a.epilogue.form;
    const V scale = site.coefficient(a.scale), diagonal = site.coefficient(a.diagonal);
    const auto add_x = [&]() QUARKSTAR_INLINE_LAMBDA {
      site.with_x([&](const auto& x) QUARKSTAR_INLINE_LAMBDA {
        site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
          const site::Complex<V> value = x.component(c);
          z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
        });
      });
    };
    site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = {scale * z[c].re, scale * z[c].im}; });
    site::Complex<V> beside[N];
    site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA { beside[c] = z[c]; });
    if (form == on_x) {
      site.with_x([&](const auto& x) QUARKSTAR_INLINE_LAMBDA {
        site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
          const site::Complex<V> value = x.component(c);
          z[c] = {diagonal * value.re, diagonal * value.im};
        });
      });
    } else if (form != on_hops && a.x != nullptr) {
      add_x();
    }
    if (form != on_neither) Term::apply(z, a.epilogue, site);
    if (form == on_x) site::unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = z[c] + beside[c]; });
    else if (form == on_hops && a.x != nullptr) add_x();
  }
};

}  // namespace quarkstar::stencil
