#pragma once
// Smeared and Naik links of one site, written once for every architecture.
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/smear/coefficients.hpp"

namespace quarkstar::smear {

using gauge::StridedLinks, site::Link;

/// sum += G m H^+: m, which belongs one step away from p, brought back to p. G is the step at p, H the same step at p + mu.
/// 414 flop.
template <class V>
QUARKSTAR_HD void enclose(Link<V>& sum, const StridedLinks<V>& links, std::ptrdiff_t p, int mu, int nu, bool forward, const Link<V>& m) {
  const Link<V> inner = multiply_adjoint(m, links.load_step(p + links.stride(mu), nu, forward));
  sum = multiply_add(links.load_step(p, nu, forward), inner, sum);
}

/// The detours around U_mu(p) that may still step in the directions not in `used`, nested so that detours share their outer links:
///   R_k(p) = w_k U_mu(p) + sum_{nu not used} sum_{+-} G R_{k+1}(p +- nu) H^+,   w = one, three, five, seven.
/// Level 0 is the smeared link; Lepage's detours are added to R_1, behind the same outer link.
template <int Level, class V>
QUARKSTAR_HD void detours(Link<V>& result, const StridedLinks<V>& links, std::ptrdiff_t p, int mu, unsigned used,
                          const PathWeights& weights) {
  const Link<V> link = links.load(p, mu);
  if constexpr (Level == 3) {
    result = link;
  } else {
    Link<V> sum{};
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (int s = 0; s < 8; ++s) {
      const int nu = s / 2;
      const bool forward = s % 2 == 0;
      if ((used >> nu & 1) != 0) continue;
      const std::ptrdiff_t q = forward ? p + links.stride(nu) : p - links.stride(nu);
      Link<V> m;
      detours<Level + 1>(m, links, q, mu, used | 1u << nu, weights);
      if constexpr (Level == 0) {
        if (weights.lepage != 0) {
          Link<V> lepage{};
          enclose(lepage, links, q, mu, nu, forward, links.load(forward ? q + links.stride(nu) : q - links.stride(nu), mu));
          m = scaled_add(links.constant(weights.lepage), lepage, m);
        }
      }
      enclose(sum, links, p, mu, nu, forward, m);
    }
    if constexpr (Level == 2) sum = scaled(links.constant(weights.seven), sum);
    result = scaled_add(links.constant(Level == 0 ? weights.one : Level == 1 ? weights.three : weights.five), link, sum);
  }
}

/// The smeared link at p: sum of all weighted paths, always in the same order. 33 kflop, 36 kflop with Lepage's term.
template <class V>
QUARKSTAR_HD void smeared_link(Link<V>& result, const StridedLinks<V>& links, std::ptrdiff_t p, int mu, const PathWeights& weights) {
  detours<0>(result, links, p, mu, 1u << mu, weights);
}

/// weight U_mu(p) U_mu(p + mu) U_mu(p + 2 mu). 414 flop.
template <class V>
QUARKSTAR_HD void naik_link(Link<V>& result, const StridedLinks<V>& links, std::ptrdiff_t p, int mu, double weight) {
  const Link<V> two = multiply(links.load(p, mu), links.load(p + links.stride(mu), mu));
  result = scaled(links.constant(weight), multiply(two, links.load(p + 2 * links.stride(mu), mu)));
}

}  // namespace quarkstar::smear
