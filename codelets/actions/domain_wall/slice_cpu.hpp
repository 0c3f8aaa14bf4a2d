#pragma once
// CPU drivers of products with matrices in the fifth dimension, alone and behind Wilson's hops: all slices of a right-hand side at a site
// wait in the first-level cache.
#include "codelets/actions/domain_wall/slice_site.hpp"
#include "codelets/actions/wilson/hopping_sites.hpp"
#include "codelets/arch/native_width.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class V, class Component>
inline __attribute__((always_inline)) void store_in_tile(typename V::Number* p, Component&& component) {
  site::unroll<domain_wall::components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    const site::Complex<V> z = component(c);
    z.re.store(p + 2 * c * V::lanes);
    z.im.store(p + (2 * c + 1) * V::lanes);
  });
}

/// All slices of a right-hand side at a register of lanes of an outer site.
template <class F, int VL>
class SliceDriver {
  using T = Real<F>;
  using V = Pack<T, VL>;
  static constexpr int reals = 2 * domain_wall::components;
  /// Reals of one chirality for which a group of rows is in registers.
  static constexpr int together = vector_registers >= 32 ? 6 : 3;

 public:
  /// tile: what waits in the cache, [slice][component][re, im][lane], slices `stride` reals apart: what a dense matrix multiplies, and the
  /// field of a product without one.
  SliceDriver(const domain_wall::Products<F>& products, int lanes, T* tile, std::size_t stride)
      : a_(products), slices_(static_cast<std::size_t>(products.slices)), lanes_(lanes), tile_(tile), stride_(stride) {}

  std::size_t place(std::size_t outer, std::size_t s, std::size_t vector) const {
    return ((outer * slices_ + s) * static_cast<std::size_t>(a_.vectors) + vector) * static_cast<std::size_t>(spinor_words<F> * lanes_);
  }

  /// What the first product multiplies, into the tile.
  void load(std::size_t outer, std::size_t vector, std::size_t lane0) {
    for (std::size_t s = 0; s < slices_; ++s) {
      const site::SiteReader<F, V> in(a_.first.field + place(outer, s, vector) + lane0, lanes_);
      store_in_tile<V>(tile_ + s * stride_, [&](int c) QUARKSTAR_INLINE_LAMBDA { return in.component(c); });
    }
  }

  /// finish(s, z) with what the products make of each slice; first_lane: of the tile.
  template <class Finish>
  void run(std::size_t outer, std::size_t vector, std::size_t lane0, const T* first_lane, Finish&& finish) {
    const bool dense = a_.first.form == domain_wall::Form::dense;
    for (std::size_t row = 0; row < slices_; row += domain_wall::row_group) {
      if (dense) multiply_rows(row, vector, first_lane);
      for (std::size_t s = row; s < row + domain_wall::row_group && s < slices_; ++s) {
        site::Complex<V> z[domain_wall::components];
        const auto add = [&](bool is_first, const domain_wall::Product<F>& product) QUARKSTAR_INLINE_LAMBDA {
          const auto slice = static_cast<int>(s), v = static_cast<int>(vector);
          if (product.field == nullptr)
            domain_wall::add_sparse(z, is_first, product, v, slice, a_.slices, [&](int other) QUARKSTAR_INLINE_LAMBDA {
              return InTile{first_lane + static_cast<std::size_t>(other) * stride_};
            });
          else
            domain_wall::add_sparse(z, is_first, product, v, slice, a_.slices, [&](int other) QUARKSTAR_INLINE_LAMBDA {
              return site::SiteReader<F, V>(product.field + place(outer, static_cast<std::size_t>(other), vector) + lane0, lanes_);
            });
        };
        if (dense)
          site::unroll<domain_wall::components>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = InTile{products_[s - row][0]}.component(c); });
        else add(true, a_.first);
        if (a_.second.form != domain_wall::Form::none) add(false, a_.second);
        finish(s, z);
      }
    }
  }

 private:
  struct InTile {
    const T* p;
    inline __attribute__((always_inline)) site::Complex<V> component(int c) const {
      return {V::load(p + 2 * c * VL), V::load(p + (2 * c + 1) * VL)};
    }
  };

  /// A group of rows of the dense matrix times what is in the tile.
  void multiply_rows(std::size_t row, std::size_t vector, const T* tile) {
    const auto rows = static_cast<std::size_t>(domain_wall::padded_rows(a_.slices));
    for (std::size_t chirality = 0; chirality < 2; ++chirality) {
      const T* matrix = a_.first.numbers + (2 * vector + chirality) * slices_ * rows + row;
      for (std::size_t real = chirality * reals / 2; real < (chirality + 1) * reals / 2; real += together) {
        V sum[domain_wall::row_group][together];
        const auto add_column = [&](std::size_t from, auto is_first) QUARKSTAR_INLINE_LAMBDA {
          V in[together];
          site::unroll<together>([&](auto i) QUARKSTAR_INLINE_LAMBDA { in[i] = V::load(tile + from * stride_ + (real + i) * VL); });
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

  const domain_wall::Products<F> a_;
  std::size_t slices_;
  int lanes_;
  T* tile_;
  std::size_t stride_;
  alignas(64) T products_[domain_wall::row_group][reals][VL];
};

template <class F, int VL>
void slice_range(const domain_wall::SliceArguments<F>& a, std::int64_t begin, std::int64_t end, const std::int32_t* left_out) {
  constexpr std::size_t stride = 2 * domain_wall::components * VL;
  alignas(64) Real<F> tile[most_vectors * stride];
  SliceDriver<F, VL> driver({a.product, {}, a.slices, a.vectors}, a.lanes, tile, stride);
  for (auto outer = static_cast<std::size_t>(begin); outer < static_cast<std::size_t>(end); ++outer)
    for (std::size_t v = 0; v < static_cast<std::size_t>(a.vectors); ++v) {
      if (left_out != nullptr && left_out[v] != 0) continue;
      for (std::size_t lane0 = 0; lane0 < static_cast<std::size_t>(a.lanes); lane0 += VL) {
        if (a.product.form == domain_wall::Form::dense) driver.load(outer, v, lane0);
        driver.run(outer, v, lane0, tile, [&](std::size_t s, site::Complex<Pack<Real<F>, VL>>(&z)[domain_wall::components]) {
          site::write_site<F>(a.out + driver.place(outer, s, v) + lane0, a.lanes, z);
        });
      }
    }
}

/// What the slices of a right-hand side at a site become behind the hops: these for all of them, then the products, then the sums.
template <class F, int W, int VL>
void slice_hopping_range(const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue>& arguments, std::int64_t begin, std::int64_t end,
                         const std::int32_t* left_out, runtime::BinnedSum* sums, const wilson::Hops<F>& hops) {
  using T = Real<F>;
  using V = Pack<T, VL>;
  constexpr std::size_t stride = 2 * domain_wall::components * W;
  const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue> a = arguments;
  const auto n = static_cast<std::size_t>(a.epilogue.vectors), slices = static_cast<std::size_t>(a.epilogue.slices);
  const WantedVectors<most_vectors> wanted(left_out, a.epilogue.vectors);
  if (wanted.count == 0) return;
  int of_hops[most_vectors];  // [right-hand side that is wanted][slice]
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted.count); ++i)
    for (std::size_t s = 0; s < slices; ++s) of_hops[i * slices + s] = static_cast<int>(s * n) + wanted.vector[i];
  alignas(64) T tile[most_vectors * stride];
  SliceDriver<F, VL> driver(a.epilogue, W, tile, stride);
  // Lines leave whole only where a register has all lanes: the slices of one are done before the next.
  SiteStores<F, W, spinor_words<F>> stores(hops.stream && W == VL);
  const auto of_site_vectors = static_cast<std::ptrdiff_t>(slices * n);
  const bool scaled = a.x != nullptr || std::any_of(a.scale, a.scale + of_site_vectors, [](T scale) { return scale != 1; });
  std::vector<LaneSum<VL>> totals(3 * n);  // [norm, re, im][right-hand side]
  for (std::int64_t i = begin; i < end; ++i) {
    const std::size_t outer = a.sites != nullptr ? a.sites[i] : static_cast<std::size_t>(i);
    auto finish_slices = [&](int k, const T*) {
      if (k % a.epilogue.slices != a.epilogue.slices - 1) return;
      const auto v = static_cast<std::size_t>(wanted.vector[k / a.epilogue.slices]);
      for (int lane0 = 0; lane0 < W; lane0 += VL) {
        T* const first_lane = tile + lane0 * 2 * domain_wall::components;
        for (std::size_t s = 0; scaled && s < slices; ++s) {
          T* const of_slice = first_lane + s * stride;
          site::Complex<V> z[domain_wall::components];
          load_sums_of_hops<V>(z, of_slice);
          stencil::LinearEpilogue::apply(
              z, a, SiteOfBlock<F, V>{a.x, outer, driver.place(outer, s, v) + static_cast<std::size_t>(lane0), s * n + v, W, lane0});
          store_in_tile<V>(of_slice, [&](int c) QUARKSTAR_INLINE_LAMBDA { return z[c]; });
        }
        driver.run(outer, v, static_cast<std::size_t>(lane0), first_lane,
                   [&](std::size_t s, const site::Complex<V>(&z)[domain_wall::components]) QUARKSTAR_INLINE_LAMBDA {
                     const std::size_t place = driver.place(outer, s, v), here = place + static_cast<std::size_t>(lane0);
                     site::write_site<F>(stores.place(a.out + here, lane0), W, z);
                     stores.complete(a.out + place);
                     domain_wall::Summands<V> summands;
                     if (a.sums.norm) {
                       summands.add_norm(z);
                       totals[v].add(summands.norm);
                     }
                     if (!a.sums.dot) return;
                     summands.add_dot(z, site::SiteReader<F, V>(a.y + here, W));
                     totals[n + v].add(summands.re);
                     if (a.sums.imaginary) totals[2 * n + v].add(summands.im);
                   });
      }
    };
    hops_of_site<F>(arguments, hops, i, end, of_hops, wanted.count * a.epilogue.slices, tile, a.epilogue.slices, finish_slices);
  }
  stores.finish();
  const bool taken[] = {a.sums.norm, a.sums.dot, a.sums.imaginary};
  for (std::size_t kind = 0; kind < 3; ++kind)
    for (std::size_t v = 0; taken[kind] && v < n; ++v) (sums++)->merge(totals[kind * n + v].total());
}

}  // namespace

template <class F>
domain_wall::SliceKernel<F> slice_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return slice_range<F, width()>; });
}

template <class F>
wilson::HoppingKernel<F, domain_wall::SliceEpilogue> slice_hopping_kernel(const wilson::KernelChoice& choice) {
  wilson::HoppingKernel<F, domain_wall::SliceEpilogue> found{nullptr, hops_of<F>(choice)};
  const auto over_lanes = [&](auto w) {
    if (choice.lanes == w) found.range = slice_hopping_range<F, w, vector_lanes<F, w>>;
  };
  [&]<int... Ws>(std::integer_sequence<int, Ws...>) { (over_lanes(site::Index<Ws>{}), ...); }
  (LaneCounts<F>{});
  return found;
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
