#pragma once
// The contract between the codelets that mix the vectors of each site and the kernels of every architecture; and their site bodies.
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/blas_site.hpp"
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
  const F *base, *in;                    ///< [outer site][vector][words of all lanes]; base: nullptr for none; any may be the same
  const runtime::ComplexScalar* matrix;  ///< row-major, of a row for each vector of `in`
  int vectors, in_vectors, lanes;        ///< vectors: of out and base
};

/// Sums over sites of a_v^* b_w, for v <= w.
template <class F>
struct GramArguments {
  const F *a, *b;
  int vectors, lanes;
};

/// Sums over sites of a_v^* b_w for all v and w.
template <class F>
struct ProductsArguments {
  const F *a, *b;
  int a_vectors, b_vectors, lanes;
};

/// Vector v of n at an outer site.
template <class F, int Components, class T>
QUARKSTAR_HD T* vector_at(T* field, std::size_t outer, int n, int v, int lanes) {
  const auto words = static_cast<std::size_t>(NumberFormat<F>::site_words(2 * Components) * lanes);
  return field + (outer * static_cast<std::size_t>(n) + static_cast<std::size_t>(v)) * words;
}

/// The components of a vector at a site, from its first word for the first lane; lane: the first of V.
template <class Words, int Components, class F, class V>
QUARKSTAR_HD void load_vector(site::Complex<V> (&z)[Components], const F* site, std::size_t lane, int lanes) {
  constexpr int at_a_time = Words::at_a_time;
  site::unroll<Components / at_a_time>([&](auto part) QUARKSTAR_INLINE_LAMBDA {
    site::Complex<V> raw[at_a_time];
    Words::load(raw, site, part * at_a_time, lane, lanes);
    site::unroll<at_a_time>([&](auto k) QUARKSTAR_INLINE_LAMBDA { z[part * at_a_time + k] = raw[k]; });
  });
  if constexpr (is_half<F>) {
    const V unit = V::load(reinterpret_cast<const float*>(site + lane));
    for (site::Complex<V>& component : z) component = {component.re * unit, component.im * unit};
  }
}

/// The same backward.
template <class Words, int Components, class F, class V>
QUARKSTAR_HD void store_vector(F* site, std::size_t lane, int lanes, const site::Complex<V> (&z)[Components]) {
  Words::write(site, lane, lanes, z);
}

template <class F, int Components, class Words, class V>
QUARKSTAR_HD void multiply_site(const MultiplyArguments<F>& a, std::size_t outer, std::size_t lane) {
  site::Complex<V> in[most_vectors][Components];
  for (int w = 0; w < a.in_vectors; ++w)
    load_vector<Words>(in[w], vector_at<F, Components>(a.in, outer, a.in_vectors, w, a.lanes), lane, a.lanes);
  for (int v = 0; v < a.vectors; ++v) {
    site::Complex<V> sum[Components];
    for (int c = 0; c < Components; ++c) sum[c] = {V::broadcast(0), V::broadcast(0)};
    if (a.base != nullptr) load_vector<Words>(sum, vector_at<F, Components>(a.base, outer, a.vectors, v, a.lanes), lane, a.lanes);
    for (int w = 0; w < a.in_vectors; ++w) {
      const runtime::ComplexScalar& m = a.matrix[w * a.vectors + v];
      const site::Complex<V> factor{V::broadcast(static_cast<Real<F>>(m.re)), V::broadcast(static_cast<Real<F>>(m.im))};
      for (int c = 0; c < Components; ++c) sum[c] = site::multiply_add(factor, in[w][c], sum[c]);
    }
    store_vector<Words>(vector_at<F, Components>(a.out, outer, a.vectors, v, a.lanes), lane, a.lanes, sum);
  }
}

/// sum_c a_c^* b_c.
template <int Components, class V>
QUARKSTAR_HD site::Complex<V> product_of_vectors(const site::Complex<V> (&a)[Components], const site::Complex<V> (&b)[Components]) {
  site::Complex<V> sum = site::conjugate_multiply(a[0], b[0]);
  for (int c = 1; c < Components; ++c) sum = site::conjugate_multiply_add(a[c], b[c], sum);
  return sum;
}

/// Kernels over outer sites [begin, end). The second merges n^2 sums, the third two for each pair of vectors.
template <class F>
using MultiplyKernel = void (*)(const MultiplyArguments<F>&, std::int64_t begin, std::int64_t end);
template <class F>
using GramKernel = void (*)(const GramArguments<F>&, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);
template <class F>
using ProductsKernel = void (*)(const ProductsArguments<F>&, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace blas

#define QUARKSTAR_DECLARE_GRAM(architecture)          \
  namespace architecture {                            \
  template <class F, int Components>                  \
  blas::MultiplyKernel<F> multiply_kernel(int lanes); \
  template <class F, int Components>                  \
  blas::GramKernel<F> gram_kernel(int lanes);         \
  template <class F, int Components>                  \
  blas::ProductsKernel<F> products_kernel(int lanes); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_GRAM)
#undef QUARKSTAR_DECLARE_GRAM

}  // namespace quarkstar
