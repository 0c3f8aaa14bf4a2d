#pragma once
// Products with matrices in the fifth dimension at one site, written once for every architecture: what is added to a slice of the result.
#include "codelets/actions/domain_wall/slice_arguments.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar::domain_wall {

inline constexpr int components = 12, of_chirality = 6;  ///< complex numbers of a spinor, and of each chirality, + first

/// z += d x, or z = d x where nothing is there yet, for the components of a chirality. x: calls for component c.
template <int Chirality, class V, class Component>
QUARKSTAR_HD void add_multiple(site::Complex<V> (&z)[components], bool is_first, V d, Component&& x) {
  site::unroll<of_chirality>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
    constexpr int c = Chirality * of_chirality + i;
    const site::Complex<V> value = x(c);
    if (is_first) z[c] = {d * value.re, d * value.im};
    else z[c] = {fma(d, value.re, z[c].re), fma(d, value.im, z[c].im)};
  });
}

/// z of slice s += T of a diagonal matrix or one with neighbours; is_first: z is not there yet. at(slice) makes a reader of T's field at
/// this site.
template <class F, class V, class At>
QUARKSTAR_HD void add_sparse(site::Complex<V> (&z)[components], bool is_first, const Product<F>& product, int vector, int s, int slices,
                             At&& at) {
  const int numbers = numbers_of(product.form, slices);
  const auto own = at(s);
  site::unroll<2>([&](auto chirality) QUARKSTAR_INLINE_LAMBDA {
    const Real<F>* d = product.numbers + (2 * vector + chirality) * numbers;
    add_multiple<chirality>(z, is_first, V::broadcast(product.factor * d[s]),
                            [&](int c) QUARKSTAR_INLINE_LAMBDA { return own.component(c); });
  });
  if (product.form != Form::neighbours) return;
  site::unroll<2>([&](auto chirality) QUARKSTAR_INLINE_LAMBDA {
    const Real<F>* e = product.numbers + (2 * vector + chirality) * numbers + slices;
    const int step = chirality == 0 ? product.step : -product.step;
    const auto beside = at((s + step + slices) % slices);
    add_multiple<chirality>(z, false, V::broadcast(product.factor * e[s]),
                            [&](int c) QUARKSTAR_INLINE_LAMBDA { return beside.component(c); });
  });
}

/// Summands of a site and slice: |z|^2, <y, z>.
template <class V>
struct Summands {
  V norm = V::broadcast(0), re = V::broadcast(0), im = V::broadcast(0);
  QUARKSTAR_HD void add_norm(const site::Complex<V> (&z)[components]) {
    site::unroll<components>([&](auto c) QUARKSTAR_INLINE_LAMBDA { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
  }
  template <class Reader>
  QUARKSTAR_HD void add_dot(const site::Complex<V> (&z)[components], const Reader& y) {
    site::unroll<components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> value = y.component(c);
      re = fma(value.im, z[c].im, fma(value.re, z[c].re, re));
      im = fnma(value.im, z[c].re, fma(value.re, z[c].im, im));
    });
  }
};

}  // namespace quarkstar::domain_wall
