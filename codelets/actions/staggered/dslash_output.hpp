#pragma once
// CPU drivers of the staggered Dslash: which sites they go over, and what becomes of the hops' sums.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/arch/arch.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/spin/spin.hpp"
#include "codelets/stencil/epilogue.hpp"

#include <cstddef>
#include <type_traits>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Outer sites of a kernel's list.
template <class F, int W>
struct ListedSites {
  const staggered::DslashArguments<F>& a;
  std::size_t operator[](std::int64_t i) const { return a.sites != nullptr ? a.sites[i] : static_cast<std::size_t>(i); }
  /// Of a number in a field. vectors: of an outer site, or groups of vectors.
  static std::size_t at(std::size_t outer, int vectors, int vector, int lane0) {
    return (outer * static_cast<std::size_t>(vectors) + static_cast<std::size_t>(vector)) * (staggered::vector_words<F> * W) +
           static_cast<std::size_t>(lane0);
  }
};

/// One vector at a register of lanes, as an epilogue sees it. coefficients(values): those for the lanes.
template <class F, int W, int VL, class Coefficients>
struct SiteOfVector {
  using V = Pack<Real<F>, VL>;
  const F* x;
  const Coefficients& coefficients;
  inline __attribute__((always_inline)) V coefficient(const Real<F> (&values)[most_vectors]) const { return coefficients(values); }
  template <class Body>
  inline __attribute__((always_inline)) void with_x(Body&& body) const {
    body(site::SiteReader<F, V>(x, W));
  }
};

/// What becomes of the sum r of hops: the epilogue's result, into `out` and into the sums numbered `number`. at: of the first lane in the
/// fields; coefficients(values): those of a.diagonal or a.scale for the lanes.
template <class F, int W, int VL, class Coefficients, class Sums>
inline __attribute__((always_inline)) void finish(const staggered::DslashArguments<F>& a, F* out, std::size_t at,
                                                  Coefficients&& coefficients, const site::ColourVector<Pack<Real<F>, VL>>& r, Sums& sums,
                                                  std::size_t number) {
  using V = Pack<Real<F>, VL>;
  site::ColourVector<V> z;
  site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = r[c]; });
  stencil::LinearEpilogue::apply(z, a, SiteOfVector<F, W, VL, std::remove_reference_t<Coefficients>>{a.x + at, coefficients});
  site::write_site<F>(out, W, z);
  if (a.sums.norm) {
    V norm = V::broadcast(0);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
    sums.norm[number].add(norm);
  }
  if (a.sums.dot) {
    const site::SiteReader<F, V> y(a.y + at, W);
    V dot = V::broadcast(0);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> value = y.component(c);
      dot = fma(value.im, z[c].im, fma(value.re, z[c].re, dot));
    });
    sums.dot[number].add(dot);
  }
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
