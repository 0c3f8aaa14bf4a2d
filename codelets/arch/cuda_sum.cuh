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

/// The same for float summands, with the same bits in the table and fewer instructions: a float has two digits at the window of
/// its own magnitude, all steps but the roundings to digits are exact in single precision, and the largest magnitude also says whether
/// there is anything to add and whether all are numbers.
template <int Row = 32>
__device__ __forceinline__ void add_to_table(SumTable& table, float x) {
  using runtime::BinnedSum;
  static_assert(Row == 32 || Row == 16);
  constexpr unsigned infinite = 0x7f800000u;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, in_row = thread % Row;
  const unsigned all = Row == 32 ? 0xffffffffu : 0xffffu << (thread & 16);
  unsigned most = __reduce_max_sync(all, __float_as_uint(x) & 0x7fffffffu);
  if (most == 0) return;
  unsigned long long seen = 0;
  if (most >= infinite) {
    seen = SumTable::poison;
    if ((__float_as_uint(x) & 0x7fffffffu) >= infinite) x = 0;
    most = __reduce_max_sync(all, __float_as_uint(x) & 0x7fffffffu);
  }
  const unsigned rows = (blockDim.x * blockDim.y * blockDim.z + Row - 1) / Row;
  SumTable::Place& place = table.place[(blockIdx.x * rows + thread / Row) % SumTable::places];
  if (most != 0) {
    // All summands are less than 2^above, and window = floor(above / 32) as in runtime::window_of().
    const int above = most >= 0x00800000u ? static_cast<int>(most >> 23) - 126 : -117 - __clz(static_cast<int>(most)), window = above >> 5;
    seen |= SumTable::bit_of(window);
    // 2^(-32 window) leaves the range of a float, its root does not. What underflows on the way is less than any digit.
    const float root = __int_as_float((127 - 16 * window) << 23);
    const float y = (x * root) * root;
    // Digits are added in two parts, 24 low bits and the rest, within 32 bits each.
    const auto sum_of_parts = [all](int high, int low) {
      return (static_cast<long long>(__reduce_add_sync(all, high)) << 24) + __reduce_add_sync(all, low);
    };
    const int first = __float2int_rn(y);
    const long long digit = sum_of_parts(first >> 24, first & 0xffffff);
    long long limb = in_row == 0 ? digit : 0;
    float rest = y - static_cast<float>(first);
    for (unsigned i = 1; i < 3; ++i) {
      if (!__any_sync(all, rest != 0)) break;
      const int high = __float2int_rn(rest * 256.0f);
      const float low = (rest * 256.0f - static_cast<float>(high)) * 16777216.0f;
      const int of_low = __float2int_rn(low);
      const long long next = sum_of_parts(high, of_low);
      if (in_row == i) limb = next;
      rest = low - static_cast<float>(of_low);
    }
    if (limb != 0) atomicAdd(&place.limb_of(window, static_cast<int>(in_row)), static_cast<unsigned long long>(limb));
  }
  if (in_row == 3) atomicOr(&place.seen, seen);
}

/// A thread's place in a row of threads whose summands belong together; rows are whole warps.
struct RowPlace {
  int row, in_row, row_threads;
};

/// Gathers Numbers numbers that every thread has for its group of vectors (threadIdx.y) into rows of one group each, so that
/// add_to_table() finds whole warps: x[i] becomes that of the thread's place. `exchange`: shared memory for so many numbers per thread.
template <class T, int Numbers>
__device__ __forceinline__ void in_rows_of_groups(T (&x)[Numbers], T* exchange, const RowPlace& place) {
  if (blockDim.y == 1) return;
  const int own = static_cast<int>(threadIdx.y) * place.row_threads + static_cast<int>(threadIdx.z * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  for (int i = 0; i < Numbers; ++i) exchange[i * threads + own] = x[i];
  __syncthreads();
  for (int i = 0; i < Numbers; ++i) x[i] = exchange[i * threads + place.row * place.row_threads + place.in_row];
}

/// One such number, from shared memory that may be used again.
template <class T>
__device__ __forceinline__ T in_rows_of_groups(T x, T* exchange, const RowPlace& place) {
  if (blockDim.y == 1) return x;
  T numbers[1] = {x};
  in_rows_of_groups(numbers, exchange, place);
  __syncthreads();
  return numbers[0];
}

/// The same where a block has a thread for each vector of each of so many sites: thread / sites is then the vector of a row.
template <class T>
__device__ __forceinline__ T in_rows_of_vectors(T x, T* exchange, int vectors, int sites) {
  const int thread = static_cast<int>(threadIdx.x);
  exchange[thread % vectors * sites + thread / vectors] = x;
  __syncthreads();
  const T mine = exchange[thread];
  __syncthreads();
  return mine;
}

}  // namespace quarkstar::cuda
