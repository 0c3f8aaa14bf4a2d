#pragma once
// How the sums of a GPU kernel become a task's partial sums: by a kernel of their own, or by the scalar step that wants them.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/sum_table.hpp"

#include <cstdint>

namespace quarkstar::runtime {

/// partial[s] <- table s as BinnedSum for s < count, and the tables are empty again; nothing of that where *idle is not zero.
struct UnfinishedSums {
  SumTable* tables = nullptr;
  BinnedSum* partial = nullptr;
  const std::int32_t* idle = nullptr;  ///< in device memory; nullptr: always
  int count = 0;
};

/// The sum tables of the current lane of the current CUDA worker (device memory). What this lane has not finished is enqueued first.
SumTable* sum_tables();

/// To be called behind the kernel that has added to the tables: from here on in the stream, partial[s] is table s. idle: device pointer to
/// the flag that the kernel obeyed, or nullptr; where it did nothing, partials are left alone. The kernel that carries it out is put off: a
/// scalar step that comes next does it along the way. Whoever enqueues anything else, or tells others how far the stream is, calls
/// flush_sums() first.
void finish_sums(BinnedSum* partial, int count, const std::int32_t* idle, CudaStream stream);

/// Enqueues what finish_sums() has put off on this stream of the current device.
void flush_sums(CudaStream stream);

/// What flush_sums() would enqueue, which is now the caller's to do; count = 0: nothing.
UnfinishedSums take_unfinished_sums(CudaStream stream);

/// Enqueues what such sums say.
void enqueue_finish(const UnfinishedSums& sums, CudaStream stream);

}  // namespace quarkstar::runtime
