#pragma once
// The SU(3) matrix that is nearest to a 3x3 matrix in the sense of the trace: with operations that IEEE 754 rounds the same way everywhere.
#include "codelets/su3/unitarize.hpp"

namespace quarkstar::site {

/// m <- g m for g = [[a, b], [-b*, a*]] in rows p and q.
QUARKSTAR_HD void rotate_rows(Link<double>& m, int p, int q, const Complex<double>& a, const Complex<double>& b) {
  for (int j = 0; j < 3; ++j) {
    const Complex<double> upper = m[p][j], lower = m[q][j];
    m[p][j] = multiply(a, upper) + multiply(b, lower);
    m[q][j] = conjugate_multiply(a, lower) - conjugate_multiply(b, upper);
  }
}

/// v <- the SU(3) matrix with the largest Re tr(x^+ v) that is found from the v in SU(3) that comes in: SU(2) subgroups (0,1), (1,2), (0,2)
/// of rows, each at its own maximum, in turn until none moves v by more than 3e-15 (A. Cabibbo and E. Marinari, Phys. Lett. B 119 (1982)
/// 387). About 700 flop a turn; ten to thirty turns for links that are smeared.
QUARKSTAR_HD void maximise_trace(Link<double>& v, const Link<double>& x) {
  constexpr double still = 1e-29;
  constexpr int most_turns = 500;
  Link<double> w = multiply_adjoint(v, x);
  for (int turn = 0; turn < most_turns; ++turn) {
    double moved = 0;
    for (int subgroup = 0; subgroup < 3; ++subgroup) {
      const int p = subgroup == 1 ? 1 : 0, q = subgroup == 0 ? 1 : 2;
      // Re tr(g w) = Re(a c + b d), largest where (a, b) is along (c*, d*).
      const Complex<double> c = w[p][p] + conj(w[q][q]), d = w[q][p] - conj(w[p][q]);
      const double length2 = norm2(c) + norm2(d);
      if (!(length2 > 0)) continue;
      const double factor = 1 / sqrt(length2);
      const Complex<double> a = scaled(factor, conj(c)), b = scaled(factor, conj(d));
      moved += a.re > 0 ? a.im * a.im + norm2(b) : 1;
      rotate_rows(v, p, q, a, b);
      rotate_rows(w, p, q, a, b);
    }
    if (!(moved > still)) break;
  }
  reunitarize(v);
}

}  // namespace quarkstar::site
