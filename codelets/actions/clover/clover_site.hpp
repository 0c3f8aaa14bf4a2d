#pragma once
// The clover term at one site of a gauge field, written once for every architecture and GPU.
#include "codelets/actions/clover/clover_kernels.hpp"
#include "codelets/actions/clover/packed.hpp"

namespace quarkstar::clover {

using gauge::StridedLinks, site::Link;

/// Q: the four leaves of the mu-nu plane at p, counterclockwise from p. Border 1. 2466 flop.
template <class V>
QUARKSTAR_HD Link<V> leaves(const StridedLinks<V>& links, std::ptrdiff_t p, int mu, int nu) {
  Link<V> sum{};
#ifdef __CUDACC__
#pragma unroll 1
#endif
  for (int leaf = 0; leaf < 4; ++leaf) {
    const int a = leaf % 2 == 0 ? mu : nu, b = leaf % 2 == 0 ? nu : mu;
    const bool a_forward = leaf < 2, b_forward = leaf == 0 || leaf == 3;
    const std::ptrdiff_t at_a = a_forward ? p + links.stride(a) : p - links.stride(a);
    const std::ptrdiff_t at_b = b_forward ? p + links.stride(b) : p - links.stride(b);
    // Both ways to the opposite corner: there by the first, back by the second.
    const Link<V> there = multiply(links.load_step(p, a, a_forward), links.load_step(at_a, b, b_forward));
    const Link<V> other = multiply(links.load_step(p, b, b_forward), links.load_step(at_b, a, a_forward));
    sum = sum + multiply_adjoint(there, other);
  }
  return sum;
}

/// weight F_munu, F_munu = -i (Q - Q^+) / 8, hermitian; its trace is not removed.
template <class V>
QUARKSTAR_HD Link<V> field_strength(const StridedLinks<V>& links, std::ptrdiff_t p, int mu, int nu, double weight) {
  const Link<V> q = leaves(links, p, mu, nu);
  const V eighth = links.constant(0.125 * weight);
  return site::link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    return site::Complex<V>{eighth * (q[i][j].im + q[j][i].im), eighth * (q[j][i].re - q[i][j].re)};
  });
}

/// C = sum_{mu<nu} sigma_munu F_munu, each plane with its weight, sigma_munu = (i/2) [gamma_mu, gamma_nu], in the DeGrand-Rossi basis two
/// hermitian blocks:
///   (( f_3, f_1 - i f_2 ), ( f_1 + i f_2, -f_3 )),   f_1 = F_23 -+ F_14,  f_2 = F_13 +- F_24,  f_3 = F_12 -+ F_34,
/// upper signs for the first. store(real, value): one of the 72 reals. 15 kflop. Source: docs/conventions.md, section 2.
template <class V, class Store>
QUARKSTAR_HD void clover_term(const StridedLinks<V>& links, std::ptrdiff_t p, const PlaneWeights& weights, Store&& store) {
  Link<V> space[3], time[3];  // by the number of f
  for (int k = 0; k < 3; ++k) {
    space[k] = field_strength(links, p, k == 0 ? 1 : 0, k == 2 ? 1 : 2, weights.space);
    time[k] = field_strength(links, p, k, 3, weights.time);
  }
  for (int block = 0; block < blocks_per_site; ++block) {
    Link<V> f[3];
    for (int k = 0; k < 3; ++k) {
      const V sign = links.constant((k == 1) == (block == 0) ? 1 : -1);
      f[k] = scaled_add(sign, time[k], space[k]);
    }
    const int first = block * block_reals;
    for (int i = 0; i < 3; ++i) {
      store(first + i, f[2][i][i].re);
      store(first + 3 + i, -f[2][i][i].re);
      for (int j = 0; j < i; ++j) {
        store(first + packed_entry(i, j), f[2][i][j].re);
        store(first + packed_entry(i, j) + 1, f[2][i][j].im);
        store(first + packed_entry(i + 3, j + 3), -f[2][i][j].re);
        store(first + packed_entry(i + 3, j + 3) + 1, -f[2][i][j].im);
      }
      for (int j = 0; j < 3; ++j) {
        store(first + packed_entry(i + 3, j), f[0][i][j].re - f[1][i][j].im);
        store(first + packed_entry(i + 3, j) + 1, f[0][i][j].im + f[1][i][j].re);
      }
    }
  }
}

}  // namespace quarkstar::clover
