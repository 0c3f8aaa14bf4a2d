#pragma once
// The contract between the codelets of projections and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/graph_status.hpp"
#include "runtime/graph/scalar.hpp"

#include <cstdint>

namespace quarkstar {
namespace blas {

/// Fields of a task at most, and vectors of a field.
inline constexpr int most_tiles = 16, tile_vectors = 16;

struct Tiles {
  const double* fields[most_tiles];  ///< [outer site][vector][words of all lanes]
  int count, vectors, all_vectors;   ///< fields, the room of each for vectors, and vectors of all of them: those behind are zero
  /// Of one field.
  QUARKSTAR_HD int vectors_of(int tile) const {
    const int left = all_vectors - tile * vectors;
    return left < vectors ? left : vectors;
  }
};

/// Sums over sites of rint(a_i s_i)^* rint(b_v s_v).
struct RoundedProductsArguments {
  Tiles tiles;
  const double *tile_scales, *b, *scales;
  int b_vectors, lanes;
};

/// out_v = base_v + sum_i a_i c_iv.
struct CombineArguments {
  Tiles tiles;
  const runtime::ComplexScalar* coefficients;
  double* out;
  const double* base;  ///< nullptr: none; may be out
  int vectors, lanes;
};

/// The exact sums of some tasks, as a GPU has them.
struct PartialsOfTask {
  static constexpr int most = 256;
  const runtime::BinnedSum* of[most];
  int count;
};
/// partial(p): the sums of part p of so many. Sum s of them all.
template <class Partial>
QUARKSTAR_HD double value_of_sum(int s, int count, Partial&& partial) {
  runtime::BinnedSum sum = runtime::BinnedSum::zero();
  for (int p = 0; p < count; ++p) sum.merge(partial(p)[s]);
  return runtime::value_of(sum);
}

/// c_iv = <a_i, b_v> / (values_i + shifts_v).
struct CoefficientsArguments {
  runtime::ComplexScalar* coefficients;
  const double *mode_scales, *values, *scales;
  int modes, b_vectors, vectors;
  double shifts[most_vectors];
};
/// Of one pair; sum(s): the value of sum s of rounded_products().
template <class Sum>
QUARKSTAR_HD runtime::ComplexScalar coefficient_of(const CoefficientsArguments& a, int mode, int v, Sum&& sum) {
  const int of_b = a.b_vectors == 1 ? 0 : v, s = 2 * (mode * a.b_vectors + of_b);
  const double unit = 1 / (a.mode_scales[mode] * a.scales[of_b]), below = a.values[mode] + a.shifts[v];
  return {sum(s) * unit / below, sum(s + 1) * unit / below};
}

/// Kernels over outer sites [begin, end). The first adds whole numbers to two sums for each pair.
using RoundedProductsKernel = void (*)(const RoundedProductsArguments&, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);
using CombineKernel = void (*)(const CombineArguments&, std::int64_t begin, std::int64_t end);

}  // namespace blas

#define QUARKSTAR_DECLARE_PROJECTION(architecture)                \
  namespace architecture {                                        \
  template <int Components>                                       \
  blas::RoundedProductsKernel rounded_products_kernel(int lanes); \
  template <int Components>                                       \
  blas::CombineKernel combine_kernel(int lanes);                  \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_PROJECTION)
#undef QUARKSTAR_DECLARE_PROJECTION

}  // namespace quarkstar
