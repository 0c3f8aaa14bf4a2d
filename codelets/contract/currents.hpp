#pragma once
// Currents between two propagators, one column of each: what three-point functions are made of at a site (three_point.hpp).
#include "codelets/arch/unroll.hpp"
#include "codelets/contract/channel.hpp"
#include "codelets/contract/spin_matrix.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c(y) = G^+ g_5 Gamma S at each site, of a column S of a propagator and the same column G of a sequential one; s(vector, colour): the
/// four spins of S, then those of G. scalar 1, pseudoscalar g_5, vector g_mu, axial g_mu g_5, tensor g_mu g_nu. 640 flop per site. Source:
/// docs/conventions.md, section 12.
struct LocalCurrents {
  static constexpr std::string_view name = "local";
  static constexpr int columns = 8, components = 3, numbers = 16, reals = 2;
  static constexpr double flops = 640;
  static constexpr Channel channels[numbers] = {
      {.name = "scalar"},
      {.name = "pseudoscalar"},
      {.name = "vector_x", .group = "vector"},
      {.name = "vector_y", .group = "vector"},
      {.name = "vector_z", .group = "vector"},
      {.name = "vector_t", .group = "vector", .usual = true},
      {.name = "axial_x", .group = "axial"},
      {.name = "axial_y", .group = "axial"},
      {.name = "axial_z", .group = "axial"},
      {.name = "axial_t", .group = "axial"},
      {.name = "tensor_xy", .group = "tensor"},
      {.name = "tensor_xz", .group = "tensor"},
      {.name = "tensor_yz", .group = "tensor"},
      {.name = "tensor_xt", .group = "tensor"},
      {.name = "tensor_yt", .group = "tensor"},
      {.name = "tensor_zt", .group = "tensor"},
  };
  /// Gamma of a channel.
  static constexpr SpinMatrix gamma(int channel) {
    constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
    if (channel == 0) return {};
    if (channel == 1) return spin_gamma5;
    if (channel < 6) return spin_gamma(channel - 2);
    if (channel < 10) return spin_gamma(channel - 6) * spin_gamma5;
    return spin_gamma(pairs[channel - 10][0]) * spin_gamma(pairs[channel - 10][1]);
  }

  /// values[2 channel], values[2 channel + 1]: real and imaginary part.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    const V zero = V::broadcast(0);
    // [k][a]: sum over colours of G_a^* S_(a ^ k).
    site::Complex<V> products[4][4];
    site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA { products[i / 4][i % 4] = {zero, zero}; });
    for (int colour = 0; colour < 3; ++colour) {
      site::Complex<V> forward[4], backward[4];
      site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA {
        forward[a] = s(a, colour);
        backward[a] = s(4 + a, colour);
      });
      site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        constexpr int k = i / 4, a = i % 4;
        products[k][a] = conjugate_multiply_add(backward[a], forward[a ^ k], products[k][a]);
      });
    }
    site::unroll<numbers>([&](auto channel) QUARKSTAR_INLINE_LAMBDA {
      constexpr SpinMatrix matrix = spin_gamma5 * gamma(channel);
      site::Complex<V> sum{zero, zero};
      site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA { sum = site::add_times_i<matrix.power[a]>(sum, products[matrix.flip][a]); });
      values[2 * channel] = sum.re;
      values[2 * channel + 1] = sum.im;
    });
  }
};

/// c(y) = G'^+ g_5 (1 + g_mu) S - G^+ g_5 (1 - g_mu) S' with S'(y) = U_mu(y) S(y + mu) and G' alike, times the hops' factor in M: the
/// conserved vector current of Wilson's hops on the link from y. s(vector, colour): the four spins of S, G, S' and G'. 250 flop per site.
/// Source: docs/conventions.md, section 12.
template <int Direction>
struct ConservedCurrent {
  static constexpr std::string_view names[4] = {"conserved_x", "conserved_y", "conserved_z", "conserved_t"};
  static constexpr std::string_view name = names[Direction];
  static constexpr int columns = 16, components = 3, numbers = 1, reals = 2;
  static constexpr double flops = 250;
  static constexpr Channel channels[numbers] = {{.name = names[Direction], .group = "conserved", .usual = Direction == 3}};

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    constexpr SpinMatrix turned = spin_gamma5 * spin_gamma(Direction);
    site::Complex<V> sum{V::broadcast(0), V::broadcast(0)};
    for (int colour = 0; colour < 3; ++colour) {
      site::Complex<V> here[4], there[4];
      site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA {
        here[a] = s(a, colour);
        there[a] = s(8 + a, colour);
      });
      site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA {
        constexpr int b = a ^ turned.flip;
        const site::Complex<V> forward = site::add_times_i<turned.power[a]>(site::times_i<spin_gamma5.power[a]>(here[a]), here[b]);
        // -(g_5 - g_5 g_mu) S'
        const site::Complex<V> backward =
            site::add_times_i<turned.power[a]>(site::times_i<(spin_gamma5.power[a] + 2) % 4>(there[a]), there[b]);
        sum = conjugate_multiply_add(s(12 + a, colour), forward, sum);
        sum = conjugate_multiply_add(s(4 + a, colour), backward, sum);
      });
    }
    values[0] = sum.re;
    values[1] = sum.im;
  }
};
using ConservedX = ConservedCurrent<0>;
using ConservedY = ConservedCurrent<1>;
using ConservedZ = ConservedCurrent<2>;
using ConservedT = ConservedCurrent<3>;

}  // namespace quarkstar::contract
