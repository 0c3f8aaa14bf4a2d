#pragma once
// Mesons of a quark and an antiquark with propagators of their own.
#include "codelets/contract/mesons.hpp"

namespace quarkstar::contract {

/// c(x) = Tr[G S G g_5 T^+ g_5] at each site, S and T from one source, twelve columns each, G_n as Mesons has them. Of twisted mass, S with
/// mu and T with -mu: connected part of the neutral mesons in the twisted basis, where g_5 T^+ g_5 is the up quark's way back. That of the
/// down quark is the complex conjugate, with momentum -p. 6 kflop per site. Source: docs/conventions.md, section 12.
struct NeutralMesons {
  static constexpr std::string_view name = "neutral-mesons";
  static constexpr int columns = 24, numbers = 16, reals = 2;  ///< columns of S, then of T
  static constexpr double flops = 6000;
  static constexpr Channel channels[numbers] = {
      {.name = "neutral_pion"},
      {.name = "neutral_rho_x", .group = "neutral_rho"},
      {.name = "neutral_rho_y", .group = "neutral_rho"},
      {.name = "neutral_rho_z", .group = "neutral_rho"},
      {.name = "neutral_pion2"},
      {.name = "neutral_rho2_x", .group = "neutral_rho2"},
      {.name = "neutral_rho2_y", .group = "neutral_rho2"},
      {.name = "neutral_rho2_z", .group = "neutral_rho2"},
      {.name = "neutral_a0"},
      {.name = "neutral_b0"},
      {.name = "neutral_a1_x", .group = "neutral_a1"},
      {.name = "neutral_a1_y", .group = "neutral_a1"},
      {.name = "neutral_a1_z", .group = "neutral_a1"},
      {.name = "neutral_b1_x", .group = "neutral_b1"},
      {.name = "neutral_b1_y", .group = "neutral_b1"},
      {.name = "neutral_b1_z", .group = "neutral_b1"},
  };

  /// values[2 channel], values[2 channel + 1]: real and imaginary part. As in Mesons, with K_k(a, b) = sum over colours c, d of
  /// S(a ^ k, c; b, d) T(a, c; b ^ k, d)^*.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    const V zero = V::broadcast(0);
    site::unroll<4>([&](auto k) QUARKSTAR_INLINE_LAMBDA {
      site::Complex<V> sums[4][4];
      site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA { sums[i / 4][i % 4] = {zero, zero}; });
      for (int colours = 0; colours < 9; ++colours)
        site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          constexpr int a = i / 4, b = i % 4;
          const int source = colours / 3, sink = colours % 3;
          sums[a][b] =
              conjugate_multiply_add(s(12 + 3 * (b ^ k) + source, 3 * a + sink), s(3 * b + source, 3 * (a ^ k) + sink), sums[a][b]);
        });
      site::unroll<16>([&](auto channel) QUARKSTAR_INLINE_LAMBDA {
        constexpr SpinMatrix g = spin_basis(Mesons::gamma[channel]), to = spin_gamma5 * g, from = g * spin_gamma5;
        if constexpr (g.flip == k) {
          site::Complex<V> sum{zero, zero};
          site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
            constexpr int power = (to.power[i / 4] + from.power[i % 4]) % 4;
            const site::Complex<V>& term = sums[i / 4][i % 4];
            if constexpr (power == 0) sum = {sum.re + term.re, sum.im + term.im};
            else if constexpr (power == 1) sum = {sum.re - term.im, sum.im + term.re};
            else if constexpr (power == 2) sum = {sum.re - term.re, sum.im - term.im};
            else sum = {sum.re + term.im, sum.im - term.re};
          });
          values[2 * channel] = sum.re;
          values[2 * channel + 1] = sum.im;
        }
      });
    });
  }
};

/// The channels of Mesons of two quarks: Tr[G S G g_5 T^+ g_5], S of the quark, T of the flavour whose antiquark it has; a4p: Tr[g_4 S
/// T^+]. Exchanged they are the complex conjugates, with momentum -p. Of twisted mass that antiquark is of -mu, where T is of mu: mesons
/// are charged, as those of one quark. 6.2 kflop per site.
struct MesonsOfTwo {
  using OfOne = Mesons;
  static constexpr std::string_view name = "mesons-of-two";
  static constexpr int columns = 24, numbers = Mesons::numbers, reals = 2;  ///< columns of S, then of T
  static constexpr double flops = 6200;
  static constexpr const Channel (&channels)[numbers] = Mesons::channels;

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord& x, V* values) {
    NeutralMesons::at_site(s, x, values);
    site::Complex<V> axial{V::broadcast(0), V::broadcast(0)};
    for (int colours = 0; colours < 9; ++colours)
      site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        const int column = 3 * (i % 4) + colours / 3, colour = colours % 3;
        axial = conjugate_multiply_add(s(12 + column, 3 * (i / 4) + colour), s(column, 3 * (i / 4 ^ 2) + colour), axial);
      });
    values[32] = axial.re;
    values[33] = axial.im;
  }
};

}  // namespace quarkstar::contract
