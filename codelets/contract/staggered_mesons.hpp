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
    for (int channel = 0; channel < numbers; ++channel) values[channel] = V::broadcast(phase(channel, x)) * square;
  }

  static QUARKSTAR_HD double phase(int channel, const Coord& x) {
    if (channel == 0) return 1;
    if (channel == 1) return sign_of(x[0] + x[1] + x[2] + x[3]);
    return channel < 5 ? sign_of(x[channel - 2]) : (sign_of(x[0]) + sign_of(x[1]) + sign_of(x[2])) / 3;
  }

 private:
  static QUARKSTAR_HD double sign_of(int exponent) { return (exponent & 1) == 0 ? 1 : -1; }
};

/// Of two quarks: phase(x) times the sum over colours of G(x) H(x)^*, G of the quark, H of the flavour whose antiquark it has. Their states
/// of opposite parity are in pion5 too. 80 flop per site.
struct StaggeredMesonsOfTwo {
  using OfOne = StaggeredMesons;
  static constexpr std::string_view name = "staggered-mesons-of-two";
  static constexpr int columns = 6, numbers = StaggeredMesons::numbers, reals = 2;  ///< columns of G, then of H
  static constexpr double flops = 80;
  static constexpr const Channel (&channels)[numbers] = StaggeredMesons::channels;

  template <class V, class Columns>
  static QUARKSTAR_HD void at_site(const Columns& g, const Coord& x, V* values) {
    site::Complex<V> product{V::broadcast(0), V::broadcast(0)};
    site::unroll<9>([&](auto i)
                        QUARKSTAR_INLINE_LAMBDA { product = conjugate_multiply_add(g(3 + i / 3, i % 3), g(i / 3, i % 3), product); });
    for (int channel = 0; channel < numbers; ++channel) {
      const site::Complex<V> value = scaled(V::broadcast(StaggeredMesons::phase(channel, x)), product);
      values[2 * channel] = value.re;
      values[2 * channel + 1] = value.im;
    }
  }
};

}  // namespace quarkstar::contract
