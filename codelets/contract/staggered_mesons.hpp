#pragma once
// Local mesons of staggered fermions.
#include "codelets/arch/unroll.hpp"
#include "codelets/contract/channel.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::contract {

/// c(x) = phase(x) |G(x)|^2, the sum over colours of source and sink, G = M^-1 source with M = 2m + D and its three columns; x counted from
/// the source. Named as MILC does. phase: pion5 1 (the Goldstone pion, gamma_5,
/// which `pion` stands for, as it does for other fermions); pion05 (-1)^(x+y+z+t) (gamma_0 gamma_5); rho_i
/// (-1)^(x_i); rho the mean of rho_x, rho_y, rho_z. A correlator holds, besides the named state, its opposite-parity partner with
/// alternating sign (pion5 has none). The phase is that of the sink only, so the source has to have phase 1 itself: a point, or points an
/// even way apart in every direction; of other sources pion5 alone has a meaning. 41 flop per site.
struct StaggeredMesons {
  static constexpr std::string_view name = "staggered-mesons";
  static constexpr int columns = 3, numbers = 6, reals = 1;
  static constexpr double flops = 41;

  /// A point, or corners of hypercubes.
  static bool has_no_phases(const Source& source) { return source.kind == Source::Kind::point || source.kind == Source::Kind::corner_wall; }
  static constexpr std::string_view misfit = "has no phases of its own; use a point or corner-wall source";
  static constexpr Channel channels[numbers] = {{.name = "pion5", .group = "pion", .usual = true},
                                                {.name = "pion05", .usual = true, .fits = has_no_phases, .misfit = misfit},
                                                {.name = "rho_x", .usual = true, .fits = has_no_phases, .misfit = misfit},
                                                {.name = "rho_y", .usual = true, .fits = has_no_phases, .misfit = misfit},
                                                {.name = "rho_z", .usual = true, .fits = has_no_phases, .misfit = misfit},
                                                {.name = "rho", .usual = true, .fits = has_no_phases, .misfit = misfit}};

  /// values[channel] from s(column, component); x: the site of one lane, from the source. The others are an even way from it.
  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& s, const Coord& x, V* values) {
    V square = V::broadcast(0);
    site::unroll<9>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      const site::Complex<V> g = s(i / 3, i % 3);
      square = fma(g.im, g.im, fma(g.re, g.re, square));
    });
    const double sign[3] = {sign_of(x[0]), sign_of(x[1]), sign_of(x[2])};
    values[0] = square;
    values[1] = V::broadcast(sign_of(x[0] + x[1] + x[2] + x[3])) * square;
    for (int mu = 0; mu < 3; ++mu) values[2 + mu] = V::broadcast(sign[mu]) * square;
    values[5] = V::broadcast((sign[0] + sign[1] + sign[2]) / 3) * square;
  }

 private:
  static QUARKSTAR_HD double sign_of(int exponent) { return (exponent & 1) == 0 ? 1 : -1; }
};

}  // namespace quarkstar::contract
