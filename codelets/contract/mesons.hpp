#pragma once
// Mesons of spinors: a quark and an antiquark of the same propagator.
#include "codelets/arch/unroll.hpp"
#include "codelets/contract/channel.hpp"
#include "codelets/contract/spin_matrix.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c(x) = Tr[G S G g_5 S^+ g_5] at each site, S = M^-1 source with its twelve columns, the trace over spin and colour, G_n as above
/// (Chroma's numbers; no dagger on the second G), which is a real number at each site for all sixteen. a4p: Tr[g_4 S S^+], the axial charge
/// between the vacuum and the pion. For twisted mass these are the charged mesons in the twisted basis, of which S is the up quark. A wall
/// or noise source is not gauge fixed: beside the wanted terms (quark and antiquark from one site) there are others, which average to zero
/// over gauge transformations and add noise. 2.9 kflop per site. Source: docs/conventions.md, section 12.
struct Mesons {
  static constexpr std::string_view name = "mesons";
  static constexpr int columns = 12, numbers = 17, reals = 1;
  static constexpr double flops = 2900;
  static constexpr Channel channels[numbers] = {
      {.name = "pion", .usual = true},
      {.name = "rho_x", .group = "rho", .usual = true},
      {.name = "rho_y", .group = "rho", .usual = true},
      {.name = "rho_z", .group = "rho", .usual = true},
      {.name = "pion2"},
      {.name = "rho2_x", .group = "rho2"},
      {.name = "rho2_y", .group = "rho2"},
      {.name = "rho2_z", .group = "rho2"},
      {.name = "a0"},
      {.name = "b0"},
      {.name = "a1_x", .group = "a1"},
      {.name = "a1_y", .group = "a1"},
      {.name = "a1_z", .group = "a1"},
      {.name = "b1_x", .group = "b1"},
      {.name = "b1_y", .group = "b1"},
      {.name = "b1_z", .group = "b1"},
      {.name = "a4p", .reflection = -1},
  };
  /// n of G_n.
  static constexpr int gamma[16] = {15, 1, 2, 4, 7, 9, 10, 12, 0, 8, 14, 13, 11, 6, 5, 3};

  /// values[channel] from s(column, component).
  ///
  /// Tr[G S G g_5 S^+ g_5] = sum over a, b of i^(sink_a + source_b) K_k(a, b), sink = g_5 G, source = G g_5, where with k = the flip of G
  ///   K_k(a, b) = sum over colours c, d of S(a ^ k, c; b, d) S(a, c; b ^ k, d)^*,   K_k(a ^ k, b ^ k) = K_k(a, b)^*,
  /// so four sets of products serve sixteen mesons, and half of each set.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    const V zero = V::broadcast(0);
    V square[4][4], axial = zero;
    site::Complex<V> product[3][2][4];
    site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA { site::unroll<4>([&](auto b) QUARKSTAR_INLINE_LAMBDA { square[a][b] = zero; }); });
    site::unroll<24>([&](auto i) QUARKSTAR_INLINE_LAMBDA { product[i / 8][i / 4 % 2][i % 4] = {zero, zero}; });
    for (int colours = 0; colours < 9; ++colours) {
      site::Complex<V> m[4][4];
      site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA { m[i / 4][i % 4] = s(3 * (i % 4) + colours / 3, 3 * (i / 4) + colours % 3); });
      site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        square[i / 4][i % 4] =
            fma(m[i / 4][i % 4].im, m[i / 4][i % 4].im, fma(m[i / 4][i % 4].re, m[i / 4][i % 4].re, square[i / 4][i % 4]));
      });
      site::unroll<24>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        constexpr int k = i / 8 + 1, b = i % 4, a = smaller_spin(k, i / 4 % 2);
        auto& sum = product[k - 1][i / 4 % 2][b];
        sum = conjugate_multiply_add(m[a][b ^ k], m[a ^ k][b], sum);
      });
      site::unroll<8>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        axial = fma(m[i / 4][i % 4].im, m[i / 4 + 2][i % 4].im, fma(m[i / 4][i % 4].re, m[i / 4 + 2][i % 4].re, axial));
      });
    }
    site::unroll<16>([&](auto channel) QUARKSTAR_INLINE_LAMBDA {
      constexpr SpinMatrix g = spin_basis(gamma[channel]), sink = spin_gamma5 * g, source = g * spin_gamma5;
      V sum = zero;
      if constexpr (g.flip == 0) {
        site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          constexpr int power = (sink.power[i / 4] + source.power[i % 4]) % 4;
          static_assert(power % 2 == 0);
          sum = power == 0 ? sum + square[i / 4][i % 4] : sum - square[i / 4][i % 4];
        });
        values[channel] = sum;
      } else {
        site::unroll<8>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          constexpr int a = smaller_spin(g.flip, i / 4), b = i % 4, power = (sink.power[a] + source.power[b]) % 4;
          static_assert((sink.power[a ^ g.flip] + source.power[b ^ g.flip] + power) % 4 == 0, "the other half is its conjugate");
          const site::Complex<V>& k = product[g.flip - 1][i / 4][b];
          sum = power == 0 ? sum + k.re : power == 1 ? sum - k.im : power == 2 ? sum - k.re : sum + k.im;
        });
        values[channel] = sum + sum;
      }
    });
    values[16] = axial + axial;
  }

 private:
  /// The i-th of the spins a with a < (a ^ k).
  static constexpr int smaller_spin(int k, int i) { return k == 1 ? 2 * i : i; }
};

}  // namespace quarkstar::contract
