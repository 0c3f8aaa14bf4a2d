#include "codelets/arch/native_width.hpp"
#include "codelets/coarse/together.hpp"
#include "codelets/coarse/transfer_kernels.hpp"

#include <algorithm>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

using coarse::TransferArguments, coarse::TransferStep;

template <int Kind, class F, int VL>
void prolong_range(const TransferArguments<F>& a, std::int64_t begin, std::int64_t end) {
  using V = Pack<F, VL>;
  const int rows = 2 * a.count;
  F coefficients[2 * coarse::most_null_vectors * coarse::vectors_at_a_time * 2 * VL];
  for (std::int64_t group = begin; group < end; ++group)
    for (int lane = 0; lane < a.lanes; lane += VL)
      coarse::for_vectors(a.left_out, a.vectors, [&](auto count, int first) {
        for (int row = 0; row < rows; ++row)
          for (int t = 0; t < count; ++t)
            for (int l = 0; l < VL; ++l) {
              const F* word = coarse::coarse_at(a, a.places[group * a.lanes + lane + l], row, first + t);
              F* to = coefficients + (row * count + t) * 2 * VL + l;
              to[0] = word[0];
              to[VL] = word[coarse::lanes_of_components];
            }
        const auto of = [&](int row, int t) -> site::Complex<V> {
          const F* from = coefficients + (row * count + t) * 2 * VL;
          return {V::load(from), V::load(from + VL)};
        };
        for (int k = 0; k < a.aggregate_sites; ++k) {
          const std::uint32_t site = a.sites[group * a.aggregate_sites + k];
          if (a.fine[site & 1] == nullptr) continue;
          for (int c = 0; c < a.components; ++c) coarse::prolong_component<Kind, count, V>(a, site, c, lane, first, of);
        }
      });
}

template <int Kind, class F, int VL>
void restrict_range(const TransferArguments<F>& a, std::int64_t begin, std::int64_t end) {
  using V = Pack<F, VL>;
  const int rows = 2 * a.count;
  for (std::int64_t group = begin; group < end; ++group)
    for (int lane = 0; lane < a.lanes; lane += VL)
      coarse::for_vectors(a.left_out, a.vectors, [&](auto count, int first) {
        site::Complex<V> sums[2 * coarse::most_null_vectors][count];
        for (int row = 0; row < rows; ++row)
          for (auto& s : sums[row]) s = {V::broadcast(0), V::broadcast(0)};
        for (int k = 0; k < a.aggregate_sites; ++k) {
          const std::uint32_t site = a.sites[group * a.aggregate_sites + k];
          if (a.fine[site & 1] == nullptr || !a.layer.has(k)) continue;
          for (int row = 0; row < rows; ++row)
            if (!a.is_zero(row % a.count, first + count - 1)) coarse::restrict_site<Kind, count, V>(a, site, row, lane, first, sums[row]);
        }
        for (int row = 0; row < rows; ++row)
          for (int t = 0; t < count; ++t) {
            F re[VL], im[VL];
            sums[row][t].re.store(re);
            sums[row][t].im.store(im);
            for (int l = 0; l < VL; ++l) {
              F* word = coarse::coarse_at(a, a.places[group * a.lanes + lane + l], row, first + t);
              const bool zero = a.is_zero(row % a.count, first + t);
              word[0] = zero ? F{0} : re[l];
              word[coarse::lanes_of_components] = zero ? F{0} : im[l];
            }
          }
      });
}

/// Gram-Schmidt, twice, of one chirality of the null vectors of VL aggregates, in double precision; products and sums round one by one.
template <int Kind, class F, int VL>
void orthonormalise(const TransferArguments<F>& a, std::int64_t group, int lane, int chirality) {
  constexpr int width = std::min(VL, native_lanes<double>), parts = VL / width;
  using V = Pack<double, width>;
  using Numbers = site::Complex<V>[parts];
  const std::uint32_t* sites = a.sites + group * a.aggregate_sites;
  const int begin = chirality * (a.components / 2), end = begin + a.components / 2;
  const auto load_part = [](const F* p) QUARKSTAR_INLINE_LAMBDA -> V {
    return {__builtin_convertvector((Pack<F, width>::load(p).v), typename V::Vector)};
  };
  const auto store_part = [](F* p, const V& x) QUARKSTAR_INLINE_LAMBDA {
    Pack<F, width>{__builtin_convertvector(x.v, typename Pack<F, width>::Vector)}.store(p);
  };
  const auto load = [&](Numbers& z, int j, std::uint32_t site, int c) QUARKSTAR_INLINE_LAMBDA {
    const F *re = coarse::null_word<Kind>(a, site, j, c, 0, lane), *im = coarse::null_word<Kind>(a, site, j, c, 1, lane);
    for (int p = 0; p < parts; ++p) z[p] = {load_part(re + p * width), load_part(im + p * width)};
  };
  // body(site, component) for all of them.
  const auto over = [&](auto&& body) QUARKSTAR_INLINE_LAMBDA {
    for (int k = 0; k < a.aggregate_sites; ++k)
      for (int c = begin; c < end; ++c) body(sites[k], c);
  };
  for (int pass = 0; pass < 2; ++pass)
    for (int j = 0; j < a.count; ++j)
      for (int i = 0; i <= j; ++i) {
        Numbers product, x, y;
        for (auto& z : product) z = {V::broadcast(0), V::broadcast(0)};
        over([&](std::uint32_t site, int c) QUARKSTAR_INLINE_LAMBDA {
          load(x, i, site, c);
          load(y, j, site, c);
          for (int p = 0; p < parts; ++p) {
            product[p].re = product[p].re + (x[p].re * y[p].re + x[p].im * y[p].im);
            product[p].im = product[p].im + (x[p].re * y[p].im - x[p].im * y[p].re);
          }
        });
        if (i == j)
          for (auto& z : product) z.re = root(z.re).reciprocal();
        over([&](std::uint32_t site, int c) QUARKSTAR_INLINE_LAMBDA {
          F *re = coarse::null_word<Kind>(a, site, j, c, 0, lane), *im = coarse::null_word<Kind>(a, site, j, c, 1, lane);
          load(y, j, site, c);
          load(x, i, site, c);
          for (int p = 0; p < parts; ++p) {
            const auto& z = product[p];
            store_part(re + p * width, i == j ? y[p].re * z.re : y[p].re - (z.re * x[p].re - z.im * x[p].im));
            store_part(im + p * width, i == j ? y[p].im * z.re : y[p].im - (z.re * x[p].im + z.im * x[p].re));
          }
        });
      }
}

template <int Kind, class F, int VL>
void orthonormalise_range(const TransferArguments<F>& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t group = begin; group < end; ++group)
    for (int lane = 0; lane < a.lanes; lane += VL)
      for (const int chirality : {0, 1}) orthonormalise<Kind, F, VL>(a, group, lane, chirality);
}

template <int Kind, class F>
void columns_range(const TransferArguments<F>& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t group = begin; group < end; ++group)
    for (int k = 0; k < a.aggregate_sites; ++k)
      for (int lane = 0; lane < a.lanes; ++lane) coarse::copy_columns<Kind>(a, a.sites[group * a.aggregate_sites + k], lane);
}

template <int Kind, class F, int VL>
coarse::TransferKernel<F> kernel_of(TransferStep step) {
  if (step == TransferStep::prolong) return prolong_range<Kind, F, VL>;
  if (step == TransferStep::restrict) return restrict_range<Kind, F, VL>;
  if (step == TransferStep::orthonormalise) return orthonormalise_range<Kind, F, VL>;
  return columns_range<Kind, F>;
}

}  // namespace

template <class F>
coarse::TransferKernel<F> transfer_kernel(TransferStep step, int lanes, bool of_coarse) {
  if (of_coarse) return kernel_of<coarse::coarse_kind, F, 1>(step);
  return with_native_width<F>(lanes,
                              [step](auto width) -> coarse::TransferKernel<F> { return kernel_of<coarse::in_rows, F, width()>(step); });
}

template coarse::TransferKernel<float> transfer_kernel<float>(TransferStep, int, bool);
template coarse::TransferKernel<double> transfer_kernel<double>(TransferStep, int, bool);

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
