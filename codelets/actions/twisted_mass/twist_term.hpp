#pragma once
// The twisted-mass term at one site, written once for every architecture, GPU and number format.
#include "codelets/field/number_format.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/stencil/site_term.hpp"

#include <cstddef>

namespace quarkstar::twisted_mass {

/// S = 1 + i t gamma_5 with a t for each vector, gamma_5 = diag(1, 1, -1, -1). 48 flop.
struct TwistTerm {
  static constexpr const char* name = "twisted_mass";
  static constexpr double flops = 48;
  template <class F>
  struct Arguments {
    Real<F> t[most_vectors];
  };
  template <class F, class Task, class Fields>
  static void complete(Arguments<F>& a, const Task& task, const Fields&, std::size_t) {
    for (int v = 0; v < task.vectors; ++v) a.t[v] = static_cast<Real<F>>(task.numbers[static_cast<std::size_t>(v)]);
  }
  template <class V, class Epilogue, class Site>
  static QUARKSTAR_HD void apply(site::Complex<V> (&z)[12], const Epilogue& a, const Site& site) {
    const V t = site.coefficient(a.t);
    site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> w = z[c];
      if constexpr (c < 6) z[c] = {fnma(t, w.im, w.re), fma(t, w.re, w.im)};
      else z[c] = {fma(t, w.im, w.re), fnma(t, w.re, w.im)};
    });
  }
};
using Epilogue = stencil::SiteTermEpilogue<TwistTerm>;

}  // namespace quarkstar::twisted_mass
