#pragma once
// Spin projection and reconstruction with (1 + s gamma_mu) in the DeGrand-Rossi basis (docs/conventions.md, section 1).
#include "codelets/arch/unroll.hpp"
#include "codelets/su3/complex.hpp"

namespace quarkstar::site {

template <class V>
using ColourVector = Complex<V>[3];
template <class V>
using Spinor = Complex<V>[4][3];
template <class V>
using HalfSpinor = Complex<V>[2][3];

/// The one non-zero entry in a row of gamma_mu: (gamma_mu psi)_row = i^power psi_column.
struct GammaEntry {
  int column, power;
};

/// gamma_1 = ((0, i s1), (-i s1, 0)), gamma_2 = ((0, -i s2), (i s2, 0)), gamma_3 = ((0, i s3), (-i s3, 0)), gamma_4 = ((0, 1), (1, 0)).
constexpr GammaEntry gamma_entry(int mu, int row) {
  constexpr GammaEntry table[4][4] = {{{3, 1}, {2, 1}, {1, 3}, {0, 3}},
                                      {{3, 2}, {2, 0}, {1, 0}, {0, 2}},
                                      {{2, 1}, {3, 3}, {0, 3}, {1, 1}},
                                      {{2, 0}, {3, 0}, {0, 0}, {1, 0}}};
  return table[mu][row];
}

/// The power of i in a row of Sign gamma_mu.
constexpr int power_of_i(int mu, int sign, int row) { return (gamma_entry(mu, row).power + (sign < 0 ? 2 : 0)) % 4; }

/// h = one of the upper two rows of (1 + Sign gamma_Mu) psi. component(c): number 3 row + colour of psi. sign, here and below: nothing, or
/// a number 1 or -1 that multiplies Sign.
template <int Mu, int Sign, int Row, class V, class Component, class... Number>
QUARKSTAR_HD void project_spin(ColourVector<V>& h, Component&& component, Number... sign) {
  unroll<3>([&](auto colour) QUARKSTAR_INLINE_LAMBDA {
    constexpr int other = gamma_entry(Mu, Row).column;
    h[colour] =
        add_times_i<power_of_i(Mu, Sign, Row)>(component(Index<3 * Row + colour>{}), component(Index<3 * other + colour>{}), sign...);
  });
}

/// h = upper two rows of (1 + Sign gamma_Mu) psi; the lower two follow from them. 12 additions of complex packs.
template <int Mu, int Sign, class V, class... Number>
QUARKSTAR_HD void project(HalfSpinor<V>& h, const Spinor<V>& psi, Number... sign) {
  unroll<2>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
    project_spin<Mu, Sign, row>(
        h[row], [&](auto c) QUARKSTAR_INLINE_LAMBDA -> const Complex<V>& { return psi[c / 3][c % 3]; }, sign...);
  });
}

/// r += all four rows, for one colour, of what project() came from; g: the two rows after the link has acted.
/// First: r is assigned instead.
template <int Mu, int Sign, bool First, class V, class... Number>
QUARKSTAR_HD void reconstruct_add(Spinor<V>& r, int colour, const Complex<V>& upper0, const Complex<V>& upper1, Number... sign) {
  if constexpr (First) {
    r[0][colour] = upper0;
    r[1][colour] = upper1;
  } else {
    r[0][colour] = add_times_i<0>(r[0][colour], upper0);
    r[1][colour] = add_times_i<0>(r[1][colour], upper1);
  }
  unroll<2>([&](auto lower) QUARKSTAR_INLINE_LAMBDA {
    constexpr int row = lower + 2;
    constexpr GammaEntry entry = gamma_entry(Mu, row);
    constexpr int power = power_of_i(Mu, Sign, row);
    const Complex<V>& source = entry.column == 0 ? upper0 : upper1;
    if constexpr (First) r[row][colour] = times_i<power>(source, sign...);
    else r[row][colour] = add_times_i<power>(r[row][colour], source, sign...);
  });
}

}  // namespace quarkstar::site
