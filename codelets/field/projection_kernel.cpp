#include "codelets/arch/arch.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/field/projection_kernels.hpp"
#include "codelets/field/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

/// Products of rounded numbers that a double adds up exactly.
constexpr int exact_summands = 120;
static_assert(static_cast<double>(exact_summands) * blas::most_rounded * blas::most_rounded < 9007199254740992.0);

/// Vectors of one side whose products with two of the other stay in registers.
constexpr int columns_at_once = 4;

template <int VL>
using Reals = Pack<double, VL>;

/// Numbers times a scale, rounded to nearest.
template <int VL>
inline __attribute__((always_inline)) void load_rounded(site::Complex<Reals<VL>>& z, const double* re, int lanes, Reals<VL> scale) {
  const Reals<VL> magic = Reals<VL>::broadcast(6755399441055744.0);  // 1.5 * 2^52
  z = {(Reals<VL>::load(re) * scale + magic) - magic, (Reals<VL>::load(re + lanes) * scale + magic) - magic};
}

/// The sum of a pack's whole numbers.
template <int VL>
inline __attribute__((always_inline)) std::int64_t whole_sum(const Reals<VL>& x) {
  alignas(64) double lanes[VL];
  x.store(lanes);
  std::int64_t sum = 0;
  for (const double lane : lanes)
    if (lane == lane) sum += static_cast<std::int64_t>(lane);  // of a vector that has no numbers the scale tells
  return sum;
}

/// Packs of sites one after the other, as many as give exact sums: all vectors b of them are rounded once, then one or two at a time of the
/// tiles', which meet b in registers.
template <int Components, int VL>
void rounded_products_range(const blas::RoundedProductsArguments& a, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Reals<VL>;
  using Z = site::Complex<V>;
  constexpr int most_packs = exact_summands / (2 * Components);
  const int n = a.b_vectors, lanes = a.lanes, packs_of_site = lanes / VL;
  const std::int64_t words = std::int64_t{2} * Components * lanes;
  std::vector<Z> right(static_cast<std::size_t>(most_packs * Components * n)), left(static_cast<std::size_t>(2 * most_packs * Components));
  for (std::int64_t first = begin * packs_of_site; first < end * packs_of_site; first += most_packs) {
    const int packs = static_cast<int>(std::min<std::int64_t>(most_packs, end * packs_of_site - first));
    // The first word of vector v of n for a pack's lanes.
    const auto at = [&](const double* field, int of, int v, int pack) {
      const std::int64_t number = first + pack;
      return field + (number / packs_of_site * of + v) * words + number % packs_of_site * VL;
    };
    for (int p = 0; p < packs; ++p)
      for (int v = 0; v < n; ++v) {
        const double* const from = at(a.b, n, v, p);
        for (int c = 0; c < Components; ++c)
          load_rounded<VL>(right[static_cast<std::size_t>((p * Components + c) * n + v)], from + 2 * c * lanes, lanes,
                           V::broadcast(a.scales[v]));
      }
    const auto rows_by = [&](auto height, int tile, int row) {
      constexpr int rows = height;
      for (int p = 0; p < packs; ++p)
        for (int r = 0; r < rows; ++r) {
          const double* const from = at(a.tiles.fields[tile], a.tiles.vectors, row + r, p);
          const V scale = V::broadcast(a.tile_scales[tile * a.tiles.vectors + row + r]);
          for (int c = 0; c < Components; ++c)
            load_rounded<VL>(left[static_cast<std::size_t>((p * Components + c) * rows + r)], from + 2 * c * lanes, lanes, scale);
        }
      const auto columns_by = [&](auto width, int v) {
        constexpr int columns = width;
        Z sum[rows][columns];
        for (int r = 0; r < rows; ++r)
          for (int w = 0; w < columns; ++w) sum[r][w] = {V::broadcast(0), V::broadcast(0)};
        for (int k = 0; k < packs * Components; ++k) {
          const Z* const x = left.data() + k * rows;
          const Z* const y = right.data() + k * n + v;
          site::unroll<rows>([&](auto r) QUARKSTAR_INLINE_LAMBDA {
            site::unroll<columns>([&](auto w) QUARKSTAR_INLINE_LAMBDA { sum[r][w] = site::conjugate_multiply_add(x[r], y[w], sum[r][w]); });
          });
        }
        for (int r = 0; r < rows; ++r)
          for (int w = 0; w < columns; ++w) {
            runtime::BinnedSum* const of_pair = sums + 2 * ((tile * a.tiles.vectors + row + r) * n + v + w);
            blas::add_whole(of_pair[0], whole_sum<VL>(sum[r][w].re));
            blas::add_whole(of_pair[1], whole_sum<VL>(sum[r][w].im));
          }
      };
      int v = 0;
      for (; v + columns_at_once <= n; v += columns_at_once) columns_by(site::Index<columns_at_once>{}, v);
      for (; v < n; ++v) columns_by(site::Index<1>{}, v);
    };
    for (int tile = 0; tile < a.tiles.count; ++tile) {
      const int vectors = a.tiles.vectors_of(tile);
      int row = 0;
      for (; row + 2 <= vectors; row += 2) rows_by(site::Index<2>{}, tile, row);
      if (row < vectors) rows_by(site::Index<1>{}, tile, row);
    }
  }
}

/// sum + c z: of both parts first what the real part of z gives.
template <class V>
inline __attribute__((always_inline)) site::Complex<V> add_combined(const site::Complex<V>& c, const site::Complex<V>& z,
                                                                    const site::Complex<V>& sum) {
  return {fnma(c.im, z.im, fma(c.re, z.re, sum.re)), fma(c.re, z.im, fma(c.im, z.re, sum.im))};
}

template <int Components, int VL>
void combine_range(const blas::CombineArguments& a, std::int64_t begin, std::int64_t end) {
  using V = Reals<VL>;
  using Z = site::Complex<V>;
  const int n = a.vectors, lanes = a.lanes;
  const std::int64_t words = std::int64_t{2} * Components * lanes;
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int place = 0; place < 2 * Components * lanes; place += place % (2 * lanes) + VL == lanes ? lanes + VL : VL) {
      const auto columns_by = [&](auto width, int v) {
        constexpr int columns = width;
        const auto at = [&](auto* field, int w) { return field + (outer * n + v + w) * words + place; };
        Z sum[columns];
        for (int w = 0; w < columns; ++w)
          sum[w] = a.base == nullptr ? Z{V::broadcast(0), V::broadcast(0)} : Z{V::load(at(a.base, w)), V::load(at(a.base, w) + lanes)};
        const runtime::ComplexScalar* row = a.coefficients + v;
        for (int tile = 0; tile < a.tiles.count; ++tile) {
          const double* from = a.tiles.fields[tile] + outer * a.tiles.vectors * words + place;
          for (int r = 0; r < a.tiles.vectors_of(tile); ++r, from += words, row += n) {
            const Z z{V::load(from), V::load(from + lanes)};
            site::unroll<columns>([&](auto w) QUARKSTAR_INLINE_LAMBDA {
              sum[w] = add_combined<V>({V::broadcast(row[w].re), V::broadcast(row[w].im)}, z, sum[w]);
            });
          }
        }
        for (int w = 0; w < columns; ++w) {
          sum[w].re.store(at(a.out, w));
          sum[w].im.store(at(a.out, w) + lanes);
        }
      };
      int v = 0;
      for (; v + columns_at_once <= n; v += columns_at_once) columns_by(site::Index<columns_at_once>{}, v);
      for (; v < n; ++v) columns_by(site::Index<1>{}, v);
    }
}

}  // namespace

template <int Components>
blas::RoundedProductsKernel rounded_products_kernel(int lanes) {
  return with_native_width<double>(lanes, [](auto vl) -> blas::RoundedProductsKernel { return rounded_products_range<Components, vl>; });
}
template <int Components>
blas::CombineKernel combine_kernel(int lanes) {
  return with_native_width<double>(lanes, [](auto vl) -> blas::CombineKernel { return combine_range<Components, vl>; });
}

template blas::RoundedProductsKernel rounded_products_kernel<3>(int);
template blas::RoundedProductsKernel rounded_products_kernel<12>(int);
template blas::CombineKernel combine_kernel<3>(int);
template blas::CombineKernel combine_kernel<12>(int);

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
