#include "codelets/actions/staggered/vector_blas_cuda.hpp"
#include "codelets/arch/cuda_sum.cuh"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

struct VectorCoefficients {
  staggered::VectorCoefficient value[staggered::VectorArguments<double>::most_coefficients];
};

/// One thread a site (x) and vector (y). Coefficients are read from the state on the device.
template <class F, class Operation>
__global__ void __launch_bounds__(1024)
    vector_range(const __grid_constant__ staggered::VectorArguments<F> a, const __grid_constant__ VectorCoefficients coefficients,
                 const staggered::VectorStatus* status, staggered::Obedience obedience, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const int v = static_cast<int>(threadIdx.y);
  V sum[sum_count];
  for (V& s : sum) s = V{0};
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < sites && (left_out == nullptr || left_out[v] == 0)) {
    site::Complex<V> c[coefficient_count];
    for (int k = 0; k < Operation::coefficients; ++k) c[k] = {{static_cast<Real<F>>(coefficients.value[k].resolve(status, v))}, {0}};
    const auto lanes = static_cast<std::uint32_t>(a.lanes);
    staggered::apply_to_vector<Operation>(a, id / lanes, v, static_cast<int>(id % lanes), c, sum);
  }
  for (int s = 0; s < Operation::sums; ++s) add_to_table(tables[s * a.vectors + v], static_cast<double>(sum[s].v));
}

}  // namespace

template <class F, class Operation>
void launch_vector_blas(const staggered::VectorArguments<F>& arguments, const staggered::VectorCoefficient* coefficients,
                        const staggered::VectorStatus* status, staggered::Obedience obedience, std::int64_t outer_sites,
                        runtime::CudaStream stream) {
  VectorCoefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  const auto n = static_cast<unsigned>(arguments.vectors);
  const unsigned width = n == 1 ? 256 : n <= 2 ? 128 : n <= 8 ? 64 : 32;
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  runtime::launch_overlapping(vector_range<F, Operation>, static_cast<unsigned>((sites + width - 1) / width), dim3(width, n), stream,
                              arguments, copy, status, obedience, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

#define QUARKSTAR_VECTOR_LAUNCH(F, operation)                                                                               \
  template void launch_vector_blas<F, operation>(const staggered::VectorArguments<F>&, const staggered::VectorCoefficient*, \
                                                 const staggered::VectorStatus*, staggered::Obedience, std::int64_t, runtime::CudaStream);
#define QUARKSTAR_VECTOR_OPERATION(operation) \
  QUARKSTAR_VECTOR_LAUNCH(Half, operation)    \
  QUARKSTAR_VECTOR_LAUNCH(float, operation)   \
  QUARKSTAR_VECTOR_LAUNCH(double, operation)
QUARKSTAR_FOR_VECTOR_OPERATIONS(QUARKSTAR_VECTOR_OPERATION)

}  // namespace quarkstar::cuda
