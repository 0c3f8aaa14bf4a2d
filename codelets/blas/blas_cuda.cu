#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_sums.hpp"
#include "codelets/blas/blas_cuda.hpp"
#include "codelets/site/unroll.hpp"

namespace quarkstar::cuda {
namespace {

struct Coefficients {
  runtime::Coefficient value[blas::Arguments<double>::most_coefficients];
};

/// One thread a site: its sums run over the site's components in storage order, as on a CPU. Coefficients are read from the state on
/// the device.
template <class T, class Operation>
__global__ void __launch_bounds__(256) range(const __grid_constant__ blas::Arguments<T> a, const __grid_constant__ Coefficients coefficients,
                                             const void* state, std::uint32_t sites, SumTable* tables) {
  using V = Lane<T>;
  constexpr int fields = blas::field_count<Operation>;
  constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  if (state != nullptr && static_cast<const runtime::GraphStatus*>(state)->stop != 0) return;
  site::Complex<V> c[coefficient_count];
  for (int k = 0; k < Operation::coefficients; ++k) {
    double re, im;
    coefficients.value[k].resolve(state, re, im);
    c[k] = {{static_cast<T>(re)}, {static_cast<T>(im)}};
  }
  V sum[sum_count];
  for (V& s : sum) s = V{0};
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < sites) {
    const std::uint32_t outer = id / static_cast<std::uint32_t>(a.lanes), lane = id % static_cast<std::uint32_t>(a.lanes);
    const std::size_t base = std::size_t{outer} * 2 * a.components * a.lanes + lane;
#pragma unroll 4
    for (int component = 0; component < a.components; ++component) {
      const std::size_t re = base + std::size_t{2} * component * a.lanes, im = re + a.lanes;
      site::Complex<V> f[fields];
      site::unroll<fields>([&](auto i) {
        if constexpr (Operation::uses[i] != blas::Use::out) f[i] = {{a.fields[i][re]}, {a.fields[i][im]}};
      });
      Operation::apply(f, c, sum);
      site::unroll<fields>([&](auto i) {
        if constexpr (Operation::uses[i] != blas::Use::in) {
          a.fields[i][re] = f[i].re.v;
          a.fields[i][im] = f[i].im.v;
        }
      });
    }
  }
  for (int s = 0; s < Operation::sums; ++s) add_to_table(tables[s], static_cast<double>(sum[s].v));
}

}  // namespace

template <class T, class Operation>
void launch_blas(const blas::Arguments<T>& arguments, const runtime::Coefficient* coefficients, const void* state,
                 std::int64_t outer_sites, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  Coefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  range<T, Operation><<<static_cast<unsigned>((sites + threads - 1) / threads), threads, 0, stream>>>(
      arguments, copy, state, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

#define QUARKSTAR_BLAS_OPERATION(operation)                                                                                    \
  template void launch_blas<float, blas::operation>(const blas::Arguments<float>&, const runtime::Coefficient*, const void*,   \
                                                    std::int64_t, runtime::CudaStream);                                        \
  template void launch_blas<double, blas::operation>(const blas::Arguments<double>&, const runtime::Coefficient*, const void*, \
                                                     std::int64_t, runtime::CudaStream);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)

}  // namespace quarkstar::cuda
