#pragma once
// The nucleon: two quarks of one flavour and one of another.
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
    const BaryonSums<V> n = contract_baryon<0, 1, 15, V>(s, Octet{});
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

}  // namespace quarkstar::contract
