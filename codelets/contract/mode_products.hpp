#pragma once
// Products of colour vectors at a site: what low-mode averages are made of (solvers/eigen/mode_pairs.hpp).
#include "codelets/arch/unroll.hpp"
#include "codelets/contract/channel.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c_ij(x) = v_i^+(x) w_j(x) for four vectors v and four w, v first among the columns, in channel 4 i + j. ByParity: channel 16 p + 4 i + j
/// has the sites of parity p, counted from the source, and zero on the others. With momentum L/2 in a direction the phase is (-1)^x there.
/// No action has them as correlators. 384 flop per site.
template <bool ByParity>
struct ProductsOfModes {
  static constexpr std::string_view name = ByParity ? "mode-products" : "mode-products-of-all-sites";
  static constexpr int vectors = 4, columns = 2 * vectors, components = 3, numbers = (ByParity ? 2 : 1) * vectors * vectors, reals = 2;
  static constexpr double flops = 384;
  static constexpr auto channels = [] {
    std::array<Channel, numbers> all{};
    all.fill({.name = name});
    return all;
  }();

  /// values[2 channel], values[2 channel + 1]: real and imaginary part.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord& x, V* values) {
    [[maybe_unused]] const V zero = V::broadcast(0);
    [[maybe_unused]] const bool even = ((x[0] + x[1] + x[2] + x[3]) & 1) == 0;
    site::Complex<V> right[vectors][components];
    site::unroll<vectors * components>(
        [&](auto k) QUARKSTAR_INLINE_LAMBDA { right[k / components][k % components] = s(vectors + k / components, k % components); });
    site::unroll<vectors>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> left[components] = {s(i, 0), s(i, 1), s(i, 2)};
      site::unroll<vectors>([&](auto j) QUARKSTAR_INLINE_LAMBDA {
        site::Complex<V> product = site::conjugate_multiply(left[0], right[j][0]);
        product = site::conjugate_multiply_add(left[1], right[j][1], product);
        product = site::conjugate_multiply_add(left[2], right[j][2], product);
        constexpr int first = 2 * (vectors * i + j);
        if constexpr (ByParity) {
          constexpr int of_odd = first + numbers;
          values[first] = even ? product.re : zero;
          values[first + 1] = even ? product.im : zero;
          values[of_odd] = even ? zero : product.re;
          values[of_odd + 1] = even ? zero : product.im;
        } else {
          values[first] = product.re;
          values[first + 1] = product.im;
        }
      });
    });
  }
};
using ModeProducts = ProductsOfModes<true>;
using ModeProductsOfAllSites = ProductsOfModes<false>;

}  // namespace quarkstar::contract
