#pragma once
// The contract between the codelets that mix the vectors of a block and the kernels of every architecture; and their site bodies.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/su3/link.hpp"
#include "runtime/graph/graph_status.hpp"

namespace quarkstar {
namespace staggered {

/// out_v = base_v + sum_w in_w M_wv.
template <class F>
struct BlockMultiplyArguments {
  F* out;
  const F *base, *in;  ///< [outer site][vector][word][lane]; base: nullptr for none; any may be the same
  const runtime::ComplexScalar* matrix;
  int vectors, lanes;
};

/// Sums over sites of a_v^* b_w for v <= w.
template <class F>
struct BlockGramArguments {
  const F *a, *b;
  int vectors, lanes;
};

/// All vectors of one site; p: the site's first word for the first lane of V.
template <class F, class V>
QUARKSTAR_HD void load_block(site::Complex<V> (&block)[most_vectors][3], const F* p, int vectors, int lanes) {
  for (int v = 0; v < vectors; ++v) {
    const site::SiteReader<F, V> stored(p + v * vector_words<F> * lanes, lanes);
    for (int c = 0; c < 3; ++c) block[v][c] = stored.component(c);
  }
}

/// at: offset of the site's first word.
template <class F, class V>
QUARKSTAR_HD void block_multiply_site(const BlockMultiplyArguments<F>& a, std::size_t at) {
  site::Complex<V> in[most_vectors][3];
  load_block<F, V>(in, a.in + at, a.vectors, a.lanes);
  for (int v = 0; v < a.vectors; ++v) {
    const std::size_t own = at + static_cast<std::size_t>(v * vector_words<F> * a.lanes);
    site::Complex<V> sum[3];
    for (int c = 0; c < 3; ++c) sum[c] = {V::broadcast(0), V::broadcast(0)};
    if (a.base != nullptr) {
      const site::SiteReader<F, V> stored(a.base + own, a.lanes);
      for (int c = 0; c < 3; ++c) sum[c] = stored.component(c);
    }
    for (int w = 0; w < a.vectors; ++w) {
      const runtime::ComplexScalar& m = a.matrix[w * a.vectors + v];
      const site::Complex<V> factor{V::broadcast(static_cast<Real<F>>(m.re)), V::broadcast(static_cast<Real<F>>(m.im))};
      for (int c = 0; c < 3; ++c) sum[c] = site::multiply_add(factor, in[w][c], sum[c]);
    }
    site::write_site<F>(a.out + own, a.lanes, sum);
  }
}

/// sum_c a_c^* b_c.
template <class V>
QUARKSTAR_HD site::Complex<V> colour_product(const site::Complex<V> (&a)[3], const site::Complex<V> (&b)[3]) {
  site::Complex<V> sum = site::conjugate_multiply(a[0], b[0]);
  for (int c = 1; c < 3; ++c) sum = site::conjugate_multiply_add(a[c], b[c], sum);
  return sum;
}

/// Kernels over outer sites [begin, end). The second merges n^2 sums.
template <class F>
using BlockMultiplyKernel = void (*)(const BlockMultiplyArguments<F>&, std::int64_t begin, std::int64_t end);
template <class F>
using BlockGramKernel = void (*)(const BlockGramArguments<F>&, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace staggered

#define QUARKSTAR_DECLARE_BLOCK(architecture)                         \
  namespace architecture {                                            \
  template <class F>                                                  \
  staggered::BlockMultiplyKernel<F> block_multiply_kernel(int lanes); \
  template <class F>                                                  \
  staggered::BlockGramKernel<F> block_gram_kernel(int lanes);         \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_BLOCK)
#undef QUARKSTAR_DECLARE_BLOCK

}  // namespace quarkstar
