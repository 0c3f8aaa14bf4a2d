#pragma once
// What all baryons are made of, at a site.
#include "codelets/arch/unroll.hpp"
#include "codelets/contract/spin_matrix.hpp"
#include "codelets/su3/complex.hpp"

namespace quarkstar::contract {

/// C = g_2 g_4.
inline constexpr SpinMatrix charge_conjugation = spin_gamma(1) * spin_gamma(3);

/// J = eps_abc (q_a^T Gamma q_b) q_c, and what Wick's theorem makes of Gamma at the sink and of its adjoint at the source:
/// Y = Gamma^T, X = g_4 Gamma^+ g_4.
struct Diquark {
  SpinMatrix sink, source;
  constexpr explicit Diquark(const SpinMatrix& gamma) : sink(gamma.transposed()), source(spin_gamma(3) * gamma.adjoint() * spin_gamma(3)) {}
};

template <class Diquarks, int Number>
inline constexpr Diquark diquark_of = Diquarks::of(Number);

/// Sums over the open spin index of a baryon: diagonal[a] = N(a, a), flipped[a] = N(a ^ 2, a), of which tr[T N] is made for every T that
/// holds (1 +- g_4) / 2.
template <class V>
struct BaryonSums {
  site::Complex<V> diagonal[4], flipped[4];

  /// tr[(1 + Sign g_4) / 2 N], with the spins a of a mask alone: tr[P (1 + Sign g_4) / 2 N] with P = 1 for these a and 0 for others.
  template <int Sign, int Spins = 15>
  QUARKSTAR_HD site::Complex<V> projected() const {
    site::Complex<V> sum{V::broadcast(0), V::broadcast(0)};
    site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA {
      if constexpr ((Spins >> a & 1) != 0) sum = Sign > 0 ? sum + diagonal[a] + flipped[a] : sum + diagonal[a] - flipped[a];
    });
    return scaled(V::broadcast(0.5), sum);
  }
};

/// N = sum over colours k of the sink and k' of the source of Direct A^kk' tr Q^k'k + Exchange A^kk' Q^k'k, where
///   Q^k'k(a, b) = eps_ijk eps_i'j'k' sum_r (L^ii' X)(r, a) (Y R^jj')(r, b),
/// alone(column, component), left, right: the site's propagators A, L, R. Of q1, q2, q3 with the propagators R, L, A and no two of one
/// flavour, J(q1, q2, q3) = eps_abc (q1_a^T Gamma q2_b) q3_c: the direct term is <J(q1, q2, q3) Jbar(q1, q2, q3)>, and the other one
/// <J(q1, q2, q3) Jbar(q3, q2, q1)>. So a nucleon, whose q1 and q3 are alike, has Exchange 1, and three quarks that are alike have, but for
/// a factor of both terms, 2. Direct: 1 or 0. Spins: a mask of the a for which the sums are needed. 9 x (256 + 32 to 64) products of
/// complex numbers. Source: Wick's theorem; C. Gattringer and C. B. Lang, Quantum Chromodynamics on the Lattice (2010), ch. 6.
template <int Gamma, int Direct, int Exchange, int Spins, class V, class Alone, class Left, class Right, class Diquarks>
QUARKSTAR_HD BaryonSums<V> contract_baryon(const Alone& alone, const Left& left_quark, const Right& right_quark, Diquarks) {
  static_assert((Direct == 0 || Direct == 1) && (Exchange == 1 || Exchange == 2 || Exchange == -1));
  const site::Complex<V> zero{V::broadcast(0), V::broadcast(0)};
  BaryonSums<V> n;
  site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA { n.diagonal[a] = n.flipped[a] = zero; });
  for (int colours = 0; colours < 9; ++colours) {
    const int k = colours / 3, k1 = colours % 3;
    site::Complex<V> q[4][4];
    site::unroll<16>([&](auto i) QUARKSTAR_INLINE_LAMBDA { q[i / 4][i % 4] = zero; });
    for (int term = 0; term < 4; ++term) {
      // (i, j, k) and (i', j', k'), each cyclic or not.
      const int i = (k + 1 + (term & 1)) % 3, j = (k + 2 - (term & 1)) % 3, i1 = (k1 + 1 + (term >> 1)) % 3,
                j1 = (k1 + 2 - (term >> 1)) % 3;
      const V sign = V::broadcast(term == 0 || term == 3 ? 1 : -1);
      site::Complex<V> left[4][4], right[4][4];
      site::unroll<16>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
        left[e / 4][e % 4] = left_quark(3 * (e % 4) + i1, 3 * (e / 4) + i);
        right[e / 4][e % 4] = scaled(sign, right_quark(3 * (e % 4) + j1, 3 * (e / 4) + j));
      });
      site::unroll<16>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
        constexpr int from = e / 4, b = e % 4, to_source = diquark_of<Diquarks, Gamma>.source.power[e / 4];
        if constexpr (to_source != SpinMatrix::none)
          site::unroll<4>([&](auto r) QUARKSTAR_INLINE_LAMBDA {
            constexpr int at_sink = diquark_of<Diquarks, Gamma>.sink.power[r], power = (to_source + at_sink) % 4;
            constexpr int a = from ^ diquark_of<Diquarks, Gamma>.source.flip;  // X has its entry of row `from` in column a
            if constexpr (at_sink != SpinMatrix::none)
              q[a][b] = multiply_add(left[r][from], site::times_i<power>(right[r ^ diquark_of<Diquarks, Gamma>.sink.flip][b]), q[a][b]);
          });
      });
    }
    const site::Complex<V> trace = q[0][0] + q[1][1] + q[2][2] + q[3][3];
    site::Complex<V> m[4][4];
    site::unroll<16>([&](auto e) QUARKSTAR_INLINE_LAMBDA { m[e / 4][e % 4] = alone(3 * (e % 4) + k1, 3 * (e / 4) + k); });
    if constexpr (Exchange == 2)
      site::unroll<16>([&](auto e) QUARKSTAR_INLINE_LAMBDA { q[e / 4][e % 4] = q[e / 4][e % 4] + q[e / 4][e % 4]; });
    if constexpr (Exchange == -1) site::unroll<16>([&](auto e) QUARKSTAR_INLINE_LAMBDA { q[e / 4][e % 4] = zero - q[e / 4][e % 4]; });
    site::unroll<4>([&](auto a) QUARKSTAR_INLINE_LAMBDA {
      if constexpr ((Spins >> a & 1) != 0) {
        site::Complex<V>&diagonal = n.diagonal[a], &flipped = n.flipped[a];
        if constexpr (Direct == 1) {
          diagonal = multiply_add(m[a][a], trace, diagonal);
          flipped = multiply_add(m[a ^ 2][a], trace, flipped);
        }
        site::unroll<4>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
          diagonal = multiply_add(m[a][c], q[c][a], diagonal);
          flipped = multiply_add(m[a ^ 2][c], q[c][a], flipped);
        });
      }
    });
  }
  return n;
}

/// (2 (a + b) + c) / 3: what isospin makes of the terms of two quarks u and d of equal mass and a third one.
template <class V>
QUARKSTAR_HD BaryonSums<V> weighted(const BaryonSums<V>& a, const BaryonSums<V>& b, const BaryonSums<V>& c) {
  const V third = V::broadcast(1.0 / 3);
  BaryonSums<V> sum;
  site::unroll<4>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
    const site::Complex<V> diagonal = a.diagonal[i] + b.diagonal[i], flipped = a.flipped[i] + b.flipped[i];
    sum.diagonal[i] = scaled(third, diagonal + diagonal + c.diagonal[i]);
    sum.flipped[i] = scaled(third, flipped + flipped + c.flipped[i]);
  });
  return sum;
}

}  // namespace quarkstar::contract
