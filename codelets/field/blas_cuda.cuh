#pragma once
// CUDA driver of the vector operations.
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/field/blas_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>

namespace quarkstar::cuda {

struct Coefficients {
  blas::Coefficient value[blas::Arguments<double>::most_coefficients];
};

/// Threads of a block at most, and blocks of a multiprocessor that registers must leave room for. In half precision a spinor's results wait
/// in registers for their unit: without a limit operations on five fields take 120 of them.
template <class F, int Components>
inline constexpr int block_threads = Components == colour_components ? 1024
                                     : is_half<F>                    ? 128
                                                                     : 256;
template <class F, int Components, class Operation>
inline constexpr int resident_blocks = Components == colour_components    ? 1
                                       : !is_half<F>                      ? 4
                                       : blas::field_count<Operation> > 3 ? 5
                                                                          : 8;

/// One thread per site (x) and vector (y): its sums run over the site's components in storage order, as on a CPU. Coefficients are read
/// from the state on the device.
template <class F, int Components, class Operation>
__global__ void __launch_bounds__(block_threads<F, Components>, (resident_blocks<F, Components, Operation>))
    blas_range(const __grid_constant__ blas::Arguments<F> a, const __grid_constant__ Coefficients coefficients, const VectorStatus* status,
               Obedience obedience, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const int v = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (v >= a.vectors) return;  // whole warps
  V sum[sum_count];
  for (V& s : sum) s = V{0};
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < sites && (left_out == nullptr || left_out[v] == 0)) {
    site::Complex<V> c[coefficient_count];
    for (int k = 0; k < Operation::coefficients; ++k) {
      const runtime::ComplexScalar z = coefficients.value[k].resolve(status, v);
      c[k] = {{static_cast<Real<F>>(z.re)}, {static_cast<Real<F>>(z.im)}};
    }
    const auto lanes = static_cast<std::uint32_t>(a.lanes);
    blas::apply_to_vector<Operation, Components>(a, id / lanes, v, static_cast<int>(id % lanes), c, sum);
  }
  for (int s = 0; s < Operation::sums; ++s) add_to_table(tables[s * a.vectors + v], static_cast<double>(sum[s].v));
}

template <class F, int Components, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, const blas::Coefficient* coefficients, const VectorStatus* status,
                 Obedience obedience, std::int64_t outer_sites, runtime::CudaStream stream) {
  Coefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  // Vectors of a site in one block, whose rows are whole warps of one vector each; few vectors leave more threads to sites.
  const auto n = static_cast<unsigned>(arguments.vectors);
  constexpr unsigned most = block_threads<F, Components>;
  const unsigned usual = n == 1 ? 256 : n == 2 ? 128 : n <= 8 ? 64 : 32;
  const unsigned width = std::min(usual, std::max(32u, most / n / 32 * 32)), rows = std::min(n, most / width);
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  runtime::launch_overlapping(blas_range<F, Components, Operation>,
                              dim3(static_cast<unsigned>((sites + width - 1) / width), (n + rows - 1) / rows), dim3(width, rows), stream,
                              arguments, copy, status, obedience, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one kind of vector.
#define QUARKSTAR_BLAS_LAUNCH(F, components, operation)                                                                                \
  template void quarkstar::cuda::launch_blas<F, components, quarkstar::blas::operation>(                                               \
      const quarkstar::blas::Arguments<F>&, const quarkstar::blas::Coefficient*, const quarkstar::VectorStatus*, quarkstar::Obedience, \
      std::int64_t, quarkstar::runtime::CudaStream);
