#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/field/gram_kernels.hpp"

#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int Components, int VL>
void multiply_range(const blas::MultiplyArguments<F>& arguments, std::int64_t begin, std::int64_t end) {
  const blas::MultiplyArguments<F> a = arguments;
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL)
      blas::multiply_site<F, Components, blas::WordsInRows, Pack<Real<F>, VL>>(a, static_cast<std::size_t>(outer),
                                                                               static_cast<std::size_t>(lane));
}

/// All n vectors at a site.
template <class F, int Components, class V>
void load_vectors(site::Complex<V> (&block)[most_vectors][Components], const F* field, int n, std::int64_t outer, int lane, int lanes) {
  for (int v = 0; v < n; ++v)
    blas::load_vector<blas::WordsInRows>(block[v], blas::vector_at<F, Components>(field, static_cast<std::size_t>(outer), n, v, lanes),
                                         static_cast<std::size_t>(lane), lanes);
}

template <class F, int Components, int VL>
void gram_range(const blas::GramArguments<F>& a, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  const int n = a.vectors;
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(n * n));
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL) {
      site::Complex<V> left[most_vectors][Components], right[most_vectors][Components];
      load_vectors(left, a.a, n, outer, lane, a.lanes);
      load_vectors(right, a.b, n, outer, lane, a.lanes);
      for (int v = 0; v < n; ++v)
        for (int w = v; w < n; ++w) {
          const site::Complex<V> product = blas::product_of_vectors(left[v], right[w]);
          totals[static_cast<std::size_t>(v * n + w)].add(product.re);
          if (w > v) totals[static_cast<std::size_t>(w * n + v)].add(product.im);
        }
    }
  for (int s = 0; s < n * n; ++s) sums[s].merge(totals[static_cast<std::size_t>(s)].total());
}

template <class F, int Components, int VL>
void products_range(const blas::ProductsArguments<F>& a, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  const int count = 2 * a.a_vectors * a.b_vectors;
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(count));
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL) {
      site::Complex<V> left[Components], right[most_vectors][Components];
      load_vectors(right, a.b, a.b_vectors, outer, lane, a.lanes);
      LaneSum<VL>* total = totals.data();
      for (int v = 0; v < a.a_vectors; ++v) {
        blas::load_vector<blas::WordsInRows>(left,
                                             blas::vector_at<F, Components>(a.a, static_cast<std::size_t>(outer), a.a_vectors, v, a.lanes),
                                             static_cast<std::size_t>(lane), a.lanes);
        for (int w = 0; w < a.b_vectors; ++w) {
          const site::Complex<V> product = blas::product_of_vectors(left, right[w]);
          (total++)->add(product.re);
          (total++)->add(product.im);
        }
      }
    }
  for (int s = 0; s < count; ++s) sums[s].merge(totals[static_cast<std::size_t>(s)].total());
}

}  // namespace

template <class F, int Components>
blas::MultiplyKernel<F> multiply_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> blas::MultiplyKernel<F> { return multiply_range<F, Components, vl>; });
}
template <class F, int Components>
blas::GramKernel<F> gram_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> blas::GramKernel<F> { return gram_range<F, Components, vl>; });
}
template <class F, int Components>
blas::ProductsKernel<F> products_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> blas::ProductsKernel<F> { return products_range<F, Components, vl>; });
}

#define QUARKSTAR_GRAM_KERNELS(F)                               \
  template blas::MultiplyKernel<F> multiply_kernel<F, 3>(int);  \
  template blas::MultiplyKernel<F> multiply_kernel<F, 12>(int); \
  template blas::GramKernel<F> gram_kernel<F, 3>(int);          \
  template blas::GramKernel<F> gram_kernel<F, 12>(int);         \
  template blas::ProductsKernel<F> products_kernel<F, 3>(int);  \
  template blas::ProductsKernel<F> products_kernel<F, 12>(int);
QUARKSTAR_GRAM_KERNELS(Half)
QUARKSTAR_GRAM_KERNELS(float)
QUARKSTAR_GRAM_KERNELS(double)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
