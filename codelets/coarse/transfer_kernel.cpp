#include "codelets/arch/native_width.hpp"
#include "codelets/coarse/together.hpp"
#include "codelets/coarse/transfer_kernels.hpp"

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

template <int Kind, class F, int VL>
void orthonormalise_range(const TransferArguments<F>& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t group = begin; group < end; ++group)
    for (int lane = 0; lane < a.lanes; lane += VL)
      for (const int chirality : {0, 1}) coarse::orthonormalise<Kind, VL>(a, group, lane, chirality);
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
