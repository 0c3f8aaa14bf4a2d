#pragma once
// The decuplet: three quarks of one flavour, or of two.
#include "codelets/contract/baryon_site.hpp"
#include "codelets/contract/channel.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c(x) = (1/2) tr[T <J Jbar>], J = eps_abc (u_a^T Gamma u_b) u_c, averaged over the two states of largest |J_z|, which have spin 3/2
/// alone: Gamma = C (g_1 + i g_2) / 2 with T = (1 + sigma_12) / 2 (1 + g_4) / 2, and Gamma = C (g_1 - i g_2) / 2 with (1 - sigma_12) / 2 (1
/// + g_4) / 2; sigma_12 = i g_1 g_2 = diag(1, -1, 1, -1). delta_minus: (1 - g_4) / 2. With equal masses all of the decuplet has this
/// correlator. 27 kflop per site.
struct Decuplet {
  static constexpr std::string_view name = "decuplet";
  static constexpr int columns = 12, numbers = 2, reals = 2;
  static constexpr double flops = 27000;
  static constexpr Channel channels[numbers] = {{.name = "delta", .reflection = 0, .baryon = true},
                                                {.name = "delta_minus", .reflection = 0, .baryon = true}};
  /// C (g_1 + i g_2) / 2, and with -i.
  static constexpr Diquark of(int number) {
    return Diquark(charge_conjugation * SpinMatrix::mean(spin_gamma(0), spin_gamma(1).times_i(number == 0 ? 1 : 3)));
  }

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    to_values(contract_baryon<0, 1, 2, 0b0101, V>(s, s, s, Decuplet{}), contract_baryon<1, 1, 2, 0b1010, V>(s, s, s, Decuplet{}), values);
  }

  /// up, down: of both states.
  template <class V>
  static QUARKSTAR_HD void to_values(const BaryonSums<V>& up, const BaryonSums<V>& down, V* values) {
    const V half = V::broadcast(0.5);
    const site::Complex<V> plus = scaled(half, up.template projected<1, 0b0101>() + down.template projected<1, 0b1010>()),
                           minus = scaled(half, up.template projected<-1, 0b0101>() + down.template projected<-1, 0b1010>());
    values[0] = plus.re;
    values[1] = plus.im;
    values[2] = minus.re;
    values[3] = minus.im;
  }
};

/// Of two propagators, l and s: as Decuplet with J = eps_abc [2 (l_a^T Gamma s_b) l_c + (l_a^T Gamma l_b) s_c] / sqrt(3). l the light quark
/// and s the strange one it is the Sigma*, the other way round the Xi*. 81 kflop per site.
struct DecupletOfTwo {
  using OfOne = Decuplet;
  static constexpr std::string_view name = "decuplet-of-two";
  static constexpr int columns = 24, numbers = 2, reals = 2;  ///< columns of l, then of s
  static constexpr double flops = 81000;
  static constexpr const Channel (&channels)[numbers] = Decuplet::channels;

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& l, const Coord&, V* values) {
    Decuplet::to_values(of_state<0, 0b0101, V>(l), of_state<1, 0b1010, V>(l), values);
  }

 private:
  template <int State, int Spins, class V, class Columns>
  static QUARKSTAR_HD BaryonSums<V> of_state(const Columns& l) {
    const ColumnsFrom<12, Columns> s{l};
    return weighted(contract_baryon<State, 1, 1, Spins, V>(l, s, l, Decuplet{}),
                    contract_baryon<State, 0, 1, Spins, V>(l, l, s, Decuplet{}),
                    contract_baryon<State, 1, 2, Spins, V>(s, l, l, Decuplet{}));
  }
};

}  // namespace quarkstar::contract
