#pragma once
#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/cuda.cuh"
#include "runtime/gpu/gpu_sums.hpp"

namespace quarkstar::cuda {

using runtime::sum_tables;
using runtime::SumTable;

/// Adds one summand per thread to `table`, the same for all of a warp. All its threads must call it (0 where one has none). No warp waits
/// for another. 4 atomics per warp. Source: reductions of integers are exact in any order.
__device__ __forceinline__ void add_to_table(SumTable& table, double x) {
  using runtime::BinnedSum;
  constexpr unsigned all = 0xffffffffu;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const bool finite = x <= 1.7976931348623157e308 && x >= -1.7976931348623157e308;
  const int own = finite && x != 0 ? runtime::window_of(x) : BinnedSum::empty_window;
  const int window = __reduce_max_sync(all, own);
  const bool poisoned = __any_sync(all, !finite);
  const unsigned warps = (blockDim.x * blockDim.y * blockDim.z + arch::warp_threads - 1) / arch::warp_threads;
  SumTable::Place& place = table.place[(blockIdx.x * warps + thread / arch::warp_threads) % SumTable::places];
  const unsigned in_warp = thread % arch::warp_threads;
  unsigned long long seen = poisoned ? SumTable::poison : 0;
  if (window != BinnedSum::empty_window) {
    seen |= SumTable::bit_of(window);
    double y = finite ? x * runtime::power_of_window(-window) : 0.0;
    for (unsigned i = 0; i < 3; ++i) {
      const double digit = runtime::nearest_integer(y);
      y = (y - digit) * 4294967296.0;
      // Digits have 34 bits: the warp adds 24 low and the remaining high ones apart, within 32 bits each.
      const long long whole = __double2ll_rn(digit);
      const unsigned low = __reduce_add_sync(all, static_cast<unsigned>(whole & 0xffffff));
      const int high = __reduce_add_sync(all, static_cast<int>(whole >> 24));
      const long long limb = (static_cast<long long>(high) << 24) + low;
      if (in_warp == i && limb != 0) atomicAdd(&place.limb_of(window, static_cast<int>(i)), static_cast<unsigned long long>(limb));
      if (!__any_sync(all, y != 0)) break;  // most summands are sums of floats: two digits are all they have
    }
  }
  if (in_warp == 3 && seen != 0) atomicOr(&place.seen, seen);
}

/// What a block adds to sums, `count` of at most N. A thread has a summand for each, x[s]. Its place among the threads of the block is
/// `own`: Row places side by side are of one row, whose summands belong to the same tables; table_of(row, s): a row's table of sum s, or
/// nullptr where it has none. To be called by all threads; exchange: shared memory of N numbers for each, aligned to 16 bytes, that nobody
/// uses before all threads have come to their next barrier. A thread takes four summands of a row: its digits are added by a quarter of the
/// instructions that one summand for each thread takes.
template <int Row = 32, class T, int N, class TableOf>
__device__ __forceinline__ void add_to_tables(const T (&x)[N], int count, int own, T* exchange, TableOf&& table_of) {
  using runtime::BinnedSum;
  static_assert((Row == 32 || Row == 16) && N <= 4);
  constexpr int of_thread = 4, helpers = Row / of_thread;  // threads of a row
  constexpr unsigned all = 0xffffffffu, infinite = 0x7ff00000u;
  const auto threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z), rows = threads / Row;
  site::unroll<N>([&](auto s) {
    if (s < count) exchange[s * threads + own] = x[s];
  });
  __syncthreads();
  const auto thread = static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
  const int task = thread / helpers, helper = thread % helpers;
  if (thread / arch::warp_threads * (arch::warp_threads / helpers) >= count * rows) return;  // whole warps
  int sum = 0;
  site::unroll<N - 1>([&](auto s) { sum += task >= (s + 1) * rows ? 1 : 0; });
  const int row = task - sum * rows;
  double y[of_thread] = {};
  if (task < count * rows) {
    T read[of_thread];
    constexpr int words = 16 / sizeof(T);
    site::unroll<of_thread / words>([&](auto i) {
      const uint4 moved = *reinterpret_cast<const uint4*>(exchange + sum * threads + row * Row + helper * of_thread + i * words);
      __builtin_memcpy(read + i * words, &moved, sizeof moved);
    });
    site::unroll<of_thread>([&](auto k) { y[k] = static_cast<double>(read[k]); });
  }
  // The upper halves of a double order magnitudes by windows; the lowest bit stands for a lower half that is not zero.
  const auto largest = [&] {
    unsigned most = 0;
    site::unroll<of_thread>([&](auto k) {
      const unsigned below = sizeof(T) == 8 && __double2loint(y[k]) != 0 ? 1 : 0;
      most = max(most, (static_cast<unsigned>(__double2hiint(y[k])) & 0x7fffffffu) | below);
    });
    for (int half = helpers / 2; half > 0; half /= 2) most = max(most, __shfl_xor_sync(all, most, half));
    return most;
  };
  unsigned most = largest();
  unsigned long long seen = 0;
  if (__any_sync(all, most >= infinite)) {
    if (most >= infinite) seen = SumTable::poison;
    site::unroll<of_thread>([&](auto k) {
      if ((static_cast<unsigned>(__double2hiint(y[k])) & 0x7fffffffu) >= infinite) y[k] = 0;
    });
    most = largest();
  }
  const int window = min(max((static_cast<int>(most >> 20) - 1022) >> 5, BinnedSum::lowest_window), BinnedSum::highest_window);
  if (most != 0) seen |= SumTable::bit_of(window);
  const double scale = runtime::power_of_window(-window);
  site::unroll<of_thread>([&](auto k) { y[k] *= scale; });
  double mine = 0;  // the digit of the row that this thread adds to the table
  for (int digit = 0; digit < 3; ++digit) {
    double of_row = 0;
    bool more = false;
    site::unroll<of_thread>([&](auto k) {
      const double whole = runtime::nearest_integer(y[k]);
      of_row += whole;
      y[k] = (y[k] - whole) * 4294967296.0;
      more = more || y[k] != 0;
    });
    for (int half = helpers / 2; half > 0; half /= 2) of_row += __shfl_xor_sync(all, of_row, half);
    if (helper == digit) mine = of_row;
    if (!__any_sync(all, more)) break;  // floats near the largest have two digits
  }
  if (seen == 0) return;
  SumTable* table = table_of(row, sum);
  if (table == nullptr) return;
  SumTable::Place& place = table->place[(blockIdx.x * static_cast<unsigned>(rows) + static_cast<unsigned>(row)) % SumTable::places];
  if (mine != 0) atomicAdd(&place.limb_of(window, helper), static_cast<unsigned long long>(__double2ll_rn(mine)));
  if (helper == 3) atomicOr(&place.seen, seen);
}

}  // namespace quarkstar::cuda
