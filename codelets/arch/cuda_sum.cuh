#pragma once
#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.hpp"

namespace quarkstar::cuda {

/// A thread's place in a row of threads whose summands belong together.
struct RowPlace {
  int row, in_row, row_threads;
};

/// Adds one summand a thread to `table`, the same for all threads of a row; every thread of the block must call it (0 where it has none).
/// A row is whole warps; threads a block: at most 1024. 3 atomics for each row. Source: warp reductions of integers are exact in any order.
__device__ __forceinline__ void add_to_table(SumTable& table, double x, const RowPlace& place) {
  using runtime::BinnedSum;
  constexpr unsigned all = 0xffffffffu;
  const bool finite = x <= 1.7976931348623157e308 && x >= -1.7976931348623157e308;
  const int own = finite && x != 0 ? runtime::window_of(x) : BinnedSum::empty_window;
  const int window = __reduce_max_sync(all, own);
  const bool poisoned = __any_sync(all, !finite);
  long long limb[3] = {0, 0, 0};
  if (window != BinnedSum::empty_window) {
    double y = finite ? x * runtime::power_of_window(-window) : 0.0;
    for (int i = 0; i < 3; ++i) {
      const double digit = runtime::nearest_integer(y);
      y = (y - digit) * 4294967296.0;
      // Digits have 34 bits: the warp adds 24 low and the remaining high ones apart, within 32 bits each.
      const long long whole = __double2ll_rn(digit);
      const unsigned low = __reduce_add_sync(all, static_cast<unsigned>(whole & 0xffffff));
      const int high = __reduce_add_sync(all, static_cast<int>(whole >> 24));
      limb[i] = (static_cast<long long>(high) << 24) + low;
    }
  }
  __shared__ long long shared_limb[32][3];
  __shared__ int shared_window[32], shared_poisoned[32];
  const int warps = place.row_threads / 32, first_warp = place.row * warps;
  const int warp = first_warp + place.in_row / 32;
  if (place.in_row % 32 == 0) {
    for (int i = 0; i < 3; ++i) shared_limb[warp][i] = limb[i];
    shared_window[warp] = window;
    shared_poisoned[warp] = poisoned;
  }
  __syncthreads();
  if (place.in_row == 0) {
    BinnedSum sum = BinnedSum::zero();
    for (int w = first_warp; w < first_warp + warps; ++w)
      sum.merge({{shared_limb[w][0], shared_limb[w][1], shared_limb[w][2]}, shared_window[w], shared_poisoned[w]});
    if (sum.poisoned) atomicOr(&table.poisoned, 1);
    if (sum.window != BinnedSum::empty_window) {
      atomicMax(&table.window, sum.window + SumTable::window_bias);
      for (int i = 0; i < 3; ++i)
        if (sum.limb[i] != 0) atomicAdd(&table.limb[sum.window + 33 - i], static_cast<unsigned long long>(sum.limb[i]));
    }
  }
  __syncthreads();  // the shared arrays are free again for the next sum
}

/// The same where rows are those of threadIdx.y and blockDim.x is a multiple of 32.
__device__ __forceinline__ void add_to_table(SumTable& table, double x) {
  add_to_table(table, x, {static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)});
}

}  // namespace quarkstar::cuda
