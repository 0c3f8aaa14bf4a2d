#pragma once
// The contract between the codelets that mix the vectors of each site and the kernels of every architecture; and their site bodies.
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/su3/link.hpp"
#include "runtime/graph/graph_status.hpp"

namespace quarkstar {
namespace blas {

/// out_v = base_v + sum_w in_w M_wv.
template <class F>
struct MultiplyArguments {
  F* out;
  const F *base, *in;  ///< [outer site][vector][word][lane]; base: nullptr for none; any may be the same
  const runtime::ComplexScalar* matrix;
  int vectors, lanes;
};

/// Sums over sites of a_v^* b_w for v <= w.
template <class F>
struct GramArguments {
  const F *a, *b;
  int vectors, lanes;
};

/// All vectors of one site; p: the site's first word for the first lane of V.
template <class F, int Components, class V>
QUARKSTAR_HD void load_vectors(site::Complex<V> (&block)[most_vectors][Components], const F* p, int vectors, int lanes) {
  for (int v = 0; v < vectors; ++v) {
    const site::SiteReader<F, V> stored(p + v * NumberFormat<F>::site_words(2 * Components) * lanes, lanes);
    for (int c = 0; c < Components; ++c) block[v][c] = stored.component(c);
  }
}

/// at: offset of the site's first word.
template <class F, int Components, class V>
QUARKSTAR_HD void multiply_site(const MultiplyArguments<F>& a, std::size_t at) {
  site::Complex<V> in[most_vectors][Components];
  load_vectors<F>(in, a.in + at, a.vectors, a.lanes);
  for (int v = 0; v < a.vectors; ++v) {
    const std::size_t own = at + static_cast<std::size_t>(v * NumberFormat<F>::site_words(2 * Components) * a.lanes);
    site::Complex<V> sum[Components];
    for (int c = 0; c < Components; ++c) sum[c] = {V::broadcast(0), V::broadcast(0)};
    if (a.base != nullptr) {
      const site::SiteReader<F, V> stored(a.base + own, a.lanes);
      for (int c = 0; c < Components; ++c) sum[c] = stored.component(c);
    }
    for (int w = 0; w < a.vectors; ++w) {
      const runtime::ComplexScalar& m = a.matrix[w * a.vectors + v];
      const site::Complex<V> factor{V::broadcast(static_cast<Real<F>>(m.re)), V::broadcast(static_cast<Real<F>>(m.im))};
      for (int c = 0; c < Components; ++c) sum[c] = site::multiply_add(factor, in[w][c], sum[c]);
    }
    site::write_site<F>(a.out + own, a.lanes, sum);
  }
}

/// sum_c a_c^* b_c.
template <int Components, class V>
QUARKSTAR_HD site::Complex<V> product_of_vectors(const site::Complex<V> (&a)[Components], const site::Complex<V> (&b)[Components]) {
  site::Complex<V> sum = site::conjugate_multiply(a[0], b[0]);
  for (int c = 1; c < Components; ++c) sum = site::conjugate_multiply_add(a[c], b[c], sum);
  return sum;
}

/// Kernels over outer sites [begin, end). The second merges n^2 sums.
template <class F>
using MultiplyKernel = void (*)(const MultiplyArguments<F>&, std::int64_t begin, std::int64_t end);
template <class F>
using GramKernel = void (*)(const GramArguments<F>&, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace blas

#define QUARKSTAR_DECLARE_GRAM(architecture)          \
  namespace architecture {                            \
  template <class F, int Components>                  \
  blas::MultiplyKernel<F> multiply_kernel(int lanes); \
  template <class F, int Components>                  \
  blas::GramKernel<F> gram_kernel(int lanes);         \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_GRAM)
#undef QUARKSTAR_DECLARE_GRAM

}  // namespace quarkstar
