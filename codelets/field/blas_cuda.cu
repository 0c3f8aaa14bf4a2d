#include "codelets/arch/cuda_sum.cuh"
#include "codelets/field/blas_cuda.hpp"
#include "codelets/field/blas_site.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

struct Coefficients {
  runtime::Coefficient value[blas::Arguments<double>::most_coefficients];
};

/// Threads of a block, and blocks of a multiprocessor that registers must leave room for. In half precision a site's results wait in
/// registers for their unit: without a limit operations on five fields take 120 of them.
template <class F>
inline constexpr int block_threads = is_half<F> ? 128 : 256;
template <class F, class Operation>
inline constexpr int resident_blocks = !is_half<F>                        ? 4
                                       : blas::field_count<Operation> > 3 ? 5
                                                                          : 8;

/// One thread a site: its sums run over the site's components in storage order, as on a CPU. Coefficients are read from the state on
/// the device.
template <class F, class Operation>
__global__ void __launch_bounds__(block_threads<F>, resident_blocks<F, Operation>)
    range(const __grid_constant__ blas::Arguments<F> a, const __grid_constant__ Coefficients coefficients,
          const runtime::GraphStatus* state, runtime::When when, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  runtime::wait_for_predecessors();
  if (state != nullptr && *runtime::idle_flag(state, when) != 0) return;
  site::Complex<V> c[coefficient_count];
  for (int k = 0; k < Operation::coefficients; ++k) {
    double re, im;
    coefficients.value[k].resolve(state, re, im);
    c[k] = {{static_cast<Real<F>>(re)}, {static_cast<Real<F>>(im)}};
  }
  V sum[sum_count];
  for (V& s : sum) s = V{0};
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < sites) {
    const std::uint32_t outer = id / static_cast<std::uint32_t>(a.lanes), lane = id % static_cast<std::uint32_t>(a.lanes);
    const auto site_words = static_cast<std::size_t>(NumberFormat<F>::site_words(2 * blas::spinor_components) * a.lanes);
    blas::apply_to_site<Operation, blas::spinor_components>(a.fields, outer * site_words + lane, a.lanes, c, sum);
  }
  for (int s = 0; s < Operation::sums; ++s) add_to_table(tables[s], static_cast<double>(sum[s].v));
}

}  // namespace

template <class F, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, const runtime::Coefficient* coefficients, const runtime::GraphStatus* state,
                 runtime::When when, std::int64_t outer_sites, runtime::CudaStream stream) {
  constexpr unsigned threads = block_threads<F>;
  Coefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  runtime::launch_overlapping(range<F, Operation>, static_cast<unsigned>((sites + threads - 1) / threads), threads, stream, arguments, copy,
                              state, when, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

#define QUARKSTAR_BLAS_LAUNCH(F, operation)                                                                                          \
  template void launch_blas<F, blas::operation>(const blas::Arguments<F>&, const runtime::Coefficient*, const runtime::GraphStatus*, \
                                                runtime::When, std::int64_t, runtime::CudaStream);
#define QUARKSTAR_BLAS_OPERATION(operation) \
  QUARKSTAR_BLAS_LAUNCH(Half, operation)    \
  QUARKSTAR_BLAS_LAUNCH(float, operation)   \
  QUARKSTAR_BLAS_LAUNCH(double, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)

}  // namespace quarkstar::cuda
