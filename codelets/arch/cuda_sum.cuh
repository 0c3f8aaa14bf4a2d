#pragma once
#include "codelets/arch/cuda.cuh"
#include "runtime/gpu/gpu_sums.hpp"

namespace quarkstar::cuda {

using runtime::sum_tables;
using runtime::SumTable;

/// Adds one summand per thread to `table`, the same for all of a row of threads: a warp, or one half of it. All threads of the row must
/// call it (0 where one has none). No row waits for another. 4 atomics per row. Source: reductions of integers are exact in any order.
template <int Row = 32>
__device__ __forceinline__ void add_to_table(SumTable& table, double x) {
  using runtime::BinnedSum;
  static_assert(Row == 32 || Row == 16);
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned all = Row == 32 ? 0xffffffffu : 0xffffu << (thread & 16);
  const bool finite = x <= 1.7976931348623157e308 && x >= -1.7976931348623157e308;
  const int own = finite && x != 0 ? runtime::window_of(x) : BinnedSum::empty_window;
  const int window = __reduce_max_sync(all, own);
  const bool poisoned = __any_sync(all, !finite);
  const unsigned rows = (blockDim.x * blockDim.y * blockDim.z + Row - 1) / Row;
  SumTable::Place& place = table.place[(blockIdx.x * rows + thread / Row) % SumTable::places];
  const unsigned in_row = thread % Row;
  unsigned long long seen = poisoned ? SumTable::poison : 0;
  if (window != BinnedSum::empty_window) {
    seen |= SumTable::bit_of(window);
    double y = finite ? x * runtime::power_of_window(-window) : 0.0;
    for (unsigned i = 0; i < 3; ++i) {
      const double digit = runtime::nearest_integer(y);
      y = (y - digit) * 4294967296.0;
      // Digits have 34 bits: the row adds 24 low and the remaining high ones apart, within 32 bits each.
      const long long whole = __double2ll_rn(digit);
      const unsigned low = __reduce_add_sync(all, static_cast<unsigned>(whole & 0xffffff));
      const int high = __reduce_add_sync(all, static_cast<int>(whole >> 24));
      const long long limb = (static_cast<long long>(high) << 24) + low;
      if (in_row == i && limb != 0) atomicAdd(&place.limb_of(window, static_cast<int>(i)), static_cast<unsigned long long>(limb));
      if (!__any_sync(all, y != 0)) break;  // most summands are sums of floats: two digits are all they have
    }
  }
  if (in_row == 3 && seen != 0) atomicOr(&place.seen, seen);
}

/// A thread's place in a row of threads whose summands belong together; rows are whole warps.
struct RowPlace {
  int row, in_row, row_threads;
};

/// Gathers a number that every thread has for its group of vectors (threadIdx.y) into rows of one group each, so that add_to_table() finds
/// whole warps. `exchange`: shared memory for one number per thread.
__device__ __forceinline__ double in_rows_of_groups(double x, double* exchange, const RowPlace& place) {
  if (blockDim.y == 1) return x;
  const int own = static_cast<int>(threadIdx.y) * place.row_threads + static_cast<int>(threadIdx.z * blockDim.x + threadIdx.x);
  exchange[own] = x;
  __syncthreads();
  const double mine = exchange[place.row * place.row_threads + place.in_row];
  __syncthreads();
  return mine;
}

/// The same where a block has a thread for each vector of each of so many sites: thread / sites is then the vector of a row.
__device__ __forceinline__ double in_rows_of_vectors(double x, double* exchange, int vectors, int sites) {
  const int thread = static_cast<int>(threadIdx.x);
  exchange[thread % vectors * sites + thread / vectors] = x;
  __syncthreads();
  const double mine = exchange[thread];
  __syncthreads();
  return mine;
}

}  // namespace quarkstar::cuda
