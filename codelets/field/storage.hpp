#pragma once
// Between stored numbers and packs of reals: the only place that knows how a format is laid out. V: a pack of Real<F>.
// p points to the first word of a site or link for the first lane of the pack; `lanes` lanes are stored side by side.
#include "codelets/arch/unroll.hpp"
#include "codelets/field/number_format.hpp"
#include "codelets/su3/complex.hpp"

namespace quarkstar::site {

inline constexpr float fixed_point_most = 32767.0f;

/// A half spinor and a link in half precision are integers until they meet: this carries the units of both, so the half spinor is
/// multiplied by it (times the site's own unit) and the link by nothing.
inline constexpr float link_unit = 1.0f / fixed_point_most;

/// 2^23 + 2^15: added to an integer q it makes a float whose low 16 bits are q + 32768, the stored form.
inline constexpr float fixed_point_bias = 8421376.0f;

/// Ordinary loads. A GPU has others (codelets/arch/cuda.cuh).
struct PlainLoads {
  template <class V, class T>
  static QUARKSTAR_HD V real(const T* p) {
    return V::load(p);
  }
  template <class V>
  static QUARKSTAR_HD Complex<V> pair(const Half* p) {
    return V::load_pair(p);
  }
};

/// Reads the components of one site in any order, through Loads.
template <class F, class V, class Loads = PlainLoads>
struct SiteReader {
  const F* p;
  int lanes;
  V unit;
  QUARKSTAR_HD SiteReader(const F* site, int stored_lanes) : p(site), lanes(stored_lanes) {
    if constexpr (is_half<F>) unit = Loads::template real<V>(reinterpret_cast<const float*>(site));
  }
  /// Component c, in half precision in units of the site.
  QUARKSTAR_HD Complex<V> raw(int c) const {
    if constexpr (is_half<F>) return Loads::template pair<V>(p + (1 + c) * lanes);
    else return {Loads::template real<V>(p + 2 * c * lanes), Loads::template real<V>(p + (2 * c + 1) * lanes)};
  }
  QUARKSTAR_HD Complex<V> component(int c) const {
    const Complex<V> z = raw(c);
    if constexpr (is_half<F>) return {z.re * unit, z.im * unit};
    else return z;
  }
};

/// Writes one site of N complex components, rounded to nearest. In half precision the largest component sets the unit; NaN or
/// infinity anywhere makes the site NaN or infinite; a site smaller than 2^-111 becomes zero.
template <class F, int N, class V>
QUARKSTAR_HD void write_site(F* p, int lanes, const Complex<V> (&z)[N]) {
  if constexpr (is_half<F>) {
    V most = V::broadcast(0);
    unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA { most = larger_magnitude(larger_magnitude(most, z[c].re), z[c].im); });
    const V unit = most * V::broadcast(1.0f / fixed_point_most);
    const V inverse = unit.reciprocal_or_zero(), bias = V::broadcast(fixed_point_bias);
    unit.store(reinterpret_cast<float*>(p));
    unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      V::store_pair(p + (1 + c) * lanes, {fma(z[c].re, inverse, bias), fma(z[c].im, inverse, bias)});
    });
  } else {
    unroll<N>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      z[c].re.store(p + 2 * c * lanes);
      z[c].im.store(p + (2 * c + 1) * lanes);
    });
  }
}

}  // namespace quarkstar::site
