#pragma once
// CPU driver of products with matrices in the fifth dimension: all slices of a site wait in the first-level cache.
#include "codelets/actions/domain_wall/slice_site.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

/// All slices of a right-hand side at a register of lanes of an outer site.
template <class F, int VL>
class SliceDriver {
  using T = Real<F>;
  using V = Pack<T, VL>;
  static constexpr int reals = 2 * domain_wall::components;
  /// Reals of one chirality for which a group of rows is in registers.
  static constexpr int together = vector_registers >= 32 ? 6 : 3;

 public:
  explicit SliceDriver(const domain_wall::SliceArguments<F>& arguments)
      : a_(arguments), slices_(static_cast<std::size_t>(arguments.slices)), sums_(static_cast<std::size_t>(3 * arguments.vectors)) {}

  void run(std::size_t outer, std::size_t vector, std::size_t lane0) {
    outer_ = outer;
    vector_ = vector;
    lane0_ = lane0;
    const bool dense = a_.first.form == domain_wall::Form::dense;
    if (dense) load();
    for (std::size_t row = 0; row < slices_; row += domain_wall::row_group) {
      if (dense) multiply_rows(row);
      for (std::size_t s = row; s < row + domain_wall::row_group && s < slices_; ++s) finish(s, dense, products_[s - row]);
    }
  }
  void merge_sums(runtime::BinnedSum* sums) {
    const auto n = static_cast<std::size_t>(a_.vectors);
    const bool wanted[] = {a_.sums.norm, a_.sums.dot, a_.sums.imaginary};
    for (std::size_t kind = 0; kind < 3; ++kind)
      for (std::size_t v = 0; wanted[kind] && v < n; ++v) (sums++)->merge(sums_[kind * n + v].total());
  }

 private:
  template <class Stored>
  Stored* at(Stored* field, std::size_t s) const {
    return field +
           ((outer_ * slices_ + s) * static_cast<std::size_t>(a_.vectors) + vector_) *
               static_cast<std::size_t>(spinor_words<F> * a_.lanes) +
           lane0_;
  }
  site::SiteReader<F, V> reader(const F* field, std::size_t s) const { return {at(field, s), a_.lanes}; }

  void load() {
    for (std::size_t s = 0; s < slices_; ++s) {
      const site::SiteReader<F, V> in = reader(a_.first.field, s);
      site::unroll<domain_wall::components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> z = in.component(c);
        z.re.store(in_[s][2 * c]);
        z.im.store(in_[s][2 * c + 1]);
      });
    }
  }

  /// A group of rows of the dense matrix times what has been loaded.
  void multiply_rows(std::size_t row) {
    const auto rows = static_cast<std::size_t>(domain_wall::padded_rows(a_.slices));
    for (std::size_t chirality = 0; chirality < 2; ++chirality) {
      const T* matrix = a_.first.numbers + (2 * vector_ + chirality) * slices_ * rows + row;
      for (std::size_t real = chirality * reals / 2; real < (chirality + 1) * reals / 2; real += together) {
        V sum[domain_wall::row_group][together];
        const auto add_column = [&](std::size_t from, auto is_first) QUARKSTAR_INLINE_LAMBDA {
          V in[together];
          site::unroll<together>([&](auto i) QUARKSTAR_INLINE_LAMBDA { in[i] = V::load(in_[from][real + i]); });
          site::unroll<domain_wall::row_group>([&](auto r) QUARKSTAR_INLINE_LAMBDA {
            const V number = V::broadcast(a_.first.factor * matrix[from * rows + r]);
            site::unroll<together>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
              if constexpr (is_first) sum[r][i] = number * in[i];
              else sum[r][i] = fma(number, in[i], sum[r][i]);
            });
          });
        };
        add_column(0, std::true_type{});
        for (std::size_t from = 1; from < slices_; ++from) add_column(from, std::false_type{});
        site::unroll<domain_wall::row_group>([&](auto r) QUARKSTAR_INLINE_LAMBDA {
          site::unroll<together>([&](auto i) QUARKSTAR_INLINE_LAMBDA { sum[r][i].store(products_[r][real + i]); });
        });
      }
    }
  }

  void finish(std::size_t s, bool dense, const T (&product)[reals][VL]) {
    site::Complex<V> z[domain_wall::components];
    const int slice = static_cast<int>(s), vector = static_cast<int>(vector_);
    if (dense)
      site::unroll<domain_wall::components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        z[c] = {V::load(product[2 * c]), V::load(product[2 * c + 1])};
      });
    else
      domain_wall::add_sparse(z, true, a_.first, vector, slice, a_.slices,
                              [&](int other) { return reader(a_.first.field, static_cast<std::size_t>(other)); });
    if (a_.second.form != domain_wall::Form::none)
      domain_wall::add_sparse(z, false, a_.second, vector, slice, a_.slices,
                              [&](int other) { return reader(a_.second.field, static_cast<std::size_t>(other)); });
    domain_wall::Summands<V> summands;
    const auto n = static_cast<std::size_t>(a_.vectors);
    if (a_.sums.norm) {
      summands.add_norm(z);
      sums_[vector_].add(summands.norm);
    }
    if (a_.sums.dot) {
      summands.add_dot(z, reader(a_.y, s));
      sums_[n + vector_].add(summands.re);
      if (a_.sums.imaginary) sums_[2 * n + vector_].add(summands.im);
    }
    site::write_site<F>(at(a_.out, s), a_.lanes, z);
  }

  const domain_wall::SliceArguments<F> a_;
  std::size_t slices_, outer_ = 0, vector_ = 0, lane0_ = 0;
  std::vector<LaneSum<VL>> sums_;  ///< [norm, re, im][vector]
  alignas(64) T in_[most_vectors][reals][VL];
  alignas(64) T products_[domain_wall::row_group][reals][VL];
};

template <class F, int VL>
void slice_range(const domain_wall::SliceArguments<F>& a, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                 runtime::BinnedSum* sums) {
  SliceDriver<F, VL> driver(a);
  for (auto outer = static_cast<std::size_t>(begin); outer < static_cast<std::size_t>(end); ++outer)
    for (std::size_t v = 0; v < static_cast<std::size_t>(a.vectors); ++v) {
      if (left_out != nullptr && left_out[v] != 0) continue;
      for (int lane0 = 0; lane0 < a.lanes; lane0 += VL) driver.run(outer, v, static_cast<std::size_t>(lane0));
    }
  driver.merge_sums(sums);
}

}  // namespace

template <class F>
domain_wall::SliceKernel<F> slice_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return slice_range<F, width()>; });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
