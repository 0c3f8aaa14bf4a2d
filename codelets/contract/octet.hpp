#pragma once
// The octet: three quarks of two flavours, or of three.
#include "codelets/contract/baryon_site.hpp"
#include "codelets/contract/channel.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c(x) = tr[T <N Nbar>] with N = eps_abc (u_a^T C g_5 d_b) u_c, C = g_2 g_4, and equal quarks u and d; with equal masses all of the octet
/// has this correlator. proton: T = (1 + g_4) / 2, positive at small t; proton_minus: T = (1 - g_4) / 2, the opposite parity, which goes
/// backward in time where proton goes forward; proton_mixed: T = (1 - i g_1 g_2) (1 + g_4) / 2. Nothing is done about the
/// phase of a boundary between source and sink. 24 kflop per site. Source: docs/conventions.md, section 12.
struct Octet {
  static constexpr std::string_view name = "octet";
  static constexpr int columns = 12, numbers = 3, reals = 2;
  static constexpr double flops = 24000;
  static constexpr Channel channels[numbers] = {{.name = "proton", .reflection = 0, .baryon = true},
                                                {.name = "proton_minus", .reflection = 0, .baryon = true},
                                                {.name = "proton_mixed", .reflection = 0, .baryon = true}};
  static constexpr Diquark of(int) { return Diquark(charge_conjugation * spin_gamma5); }

  /// values[2 channel], values[2 channel + 1]: real and imaginary part.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord&, V* values) {
    to_values(contract_baryon<0, 1, 1, 15, V>(s, s, s, Octet{}), values);
  }

  /// Of the three channels.
  template <class V>
  static QUARKSTAR_HD void to_values(const BaryonSums<V>& n, V* values) {
    const site::Complex<V> plus = n.template projected<1>(), minus = n.template projected<-1>(),
                           down = n.template projected<1, 0b1010>();  // -i g_1 g_2 = diag(-1, 1, -1, 1)
    values[0] = plus.re;
    values[1] = plus.im;
    values[2] = minus.re;
    values[3] = minus.im;
    values[4] = down.re + down.re;
    values[5] = down.im + down.im;
  }
};

/// Of two propagators, l and s. The channels of Octet, N = eps_abc (l_a^T C g_5 s_b) l_c: l the light quark and s the strange one they
/// are the Sigma, the other way round the Xi. lambda: J = eps_abc [2 (u_a^T C g_5 d_b) s_c + (u_a^T C g_5 s_b) d_c - (d_a^T C g_5 s_b) u_c]
/// / sqrt(6), u and d two quarks with the propagator l, T = (1 + g_4) / 2, of lambda_minus (1 - g_4) / 2. Where both propagators are equal,
/// so are lambda and proton. 96 kflop per site. Source: docs/conventions.md, section 12.
struct OctetOfTwo {
  using OfOne = Octet;
  static constexpr std::string_view name = "octet-of-two";
  static constexpr int columns = 24, numbers = 5, reals = 2;  ///< columns of l, then of s
  static constexpr double flops = 96000;
  static constexpr Channel channels[numbers] = {Octet::channels[0],
                                                Octet::channels[1],
                                                Octet::channels[2],
                                                {.name = "lambda", .reflection = 0, .baryon = true},
                                                {.name = "lambda_minus", .reflection = 0, .baryon = true}};

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& l, const Coord&, V* values) {
    const ColumnsFrom<12, Columns> s{l};
    Octet::to_values(contract_baryon<0, 1, 1, 15, V>(l, s, l, Octet{}), values);
    const BaryonSums<V> n = weighted(contract_baryon<0, 1, 1, 15, V>(s, l, l, Octet{}), contract_baryon<0, 0, 1, 15, V>(l, l, s, Octet{}),
                                     contract_baryon<0, 1, -1, 15, V>(l, s, l, Octet{}));
    const site::Complex<V> plus = n.template projected<1>(), minus = n.template projected<-1>();
    values[6] = plus.re;
    values[7] = plus.im;
    values[8] = minus.re;
    values[9] = minus.im;
  }
};

}  // namespace quarkstar::contract
