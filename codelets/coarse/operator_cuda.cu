#include "codelets/arch/lane.hpp"
#include "codelets/coarse/operator_cuda.hpp"

#include <cuda_runtime.h>

namespace quarkstar::cuda {
namespace {

using site::Lane;

constexpr unsigned threads = 128;

__device__ bool idles(const std::int32_t* idle) { return idle != nullptr && *idle != 0; }
__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
unsigned blocks_of(std::uint64_t work) { return static_cast<unsigned>((work + threads - 1) / threads); }

/// One thread per site, row and vector.
template <class F>
__global__ void __launch_bounds__(threads)
    operator_range(const __grid_constant__ coarse::OperatorArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  const std::uint64_t id = thread_number();
  const int v = static_cast<int>(blockIdx.y);
  if (idles(idle) || id >= work || (a.left_out != nullptr && a.left_out[v] != 0)) return;
  const auto lane = static_cast<int>(id % coarse::lanes_of_components);
  const std::uint64_t place = id / coarse::lanes_of_components;
  const auto groups = static_cast<std::uint64_t>(a.groups);
  coarse::Sources<F> sources;
  const std::size_t outer = coarse::find_sources(a, static_cast<std::uint32_t>(place / groups), sources);
  coarse::multiply_rows<1, Lane<F>>(a, outer, sources, static_cast<int>(place % groups), lane, v);
}

template <class F>
__global__ void __launch_bounds__(threads) set_columns_range(const __grid_constant__ coarse::ColumnArguments<F> a, std::uint64_t work) {
  const std::uint64_t id = thread_number(), rows = static_cast<std::uint64_t>(2 * a.count);
  if (id < work) coarse::set_element(a, id / rows, static_cast<int>(id % rows), static_cast<int>(blockIdx.y));
}

template <class F>
__global__ void __launch_bounds__(threads)
    pack_range(const __grid_constant__ coarse::PackArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  const std::uint64_t id = thread_number(), words = static_cast<std::uint64_t>(a.words);
  if (!idles(idle) && id < work) coarse::pack_word(a, static_cast<std::uint32_t>(id / words), static_cast<int>(id % words));
}

/// One block of threads per coarse site: A^-1.
template <class F>
__global__ void __launch_bounds__(coarse::most_components) invert_range(F* matrices, int components) {
  const auto m = coarse::matrices_of(matrices, std::size_t{blockIdx.x}, components);
  coarse::invert_block<Lane<F>, coarse::most_components>(m, static_cast<int>(threadIdx.x), [] { __syncthreads(); });
}
/// One thread per coarse site, direction and column.
template <class F>
__global__ void __launch_bounds__(threads) multiply_inverse_range(F* matrices, int components, std::uint64_t work) {
  const std::uint64_t id = thread_number(), columns = static_cast<std::uint64_t>(8 * components);
  if (id >= work) return;
  const auto place = static_cast<int>(id % columns);
  const auto m = coarse::matrices_of(matrices, static_cast<std::size_t>(id / columns), components);
  coarse::multiply_by_inverse<Lane<F>>(m, 1 + place / components, place % components);
}

}  // namespace

template <class F>
void launch_coarse_operator(const coarse::OperatorArguments<F>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  const std::uint64_t work = std::uint64_t{a.list.count} * static_cast<std::uint64_t>(a.groups * coarse::lanes_of_components);
  if (work == 0) return;
  operator_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.vectors)), threads, 0, stream>>>(a, idle, work);
  runtime::check_launch("coarse.operator");
}

template <class F>
void launch_set_columns(const coarse::ColumnArguments<F>& a, std::int64_t sites, runtime::CudaStream stream) {
  const std::uint64_t work = static_cast<std::uint64_t>(sites) * static_cast<std::uint64_t>(2 * a.count);
  if (work == 0) return;
  set_columns_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.count)), threads, 0, stream>>>(a, work);
  runtime::check_launch("coarse.set_columns");
}

template <class F>
void launch_coarse_eliminate(F* matrices, int components, std::int64_t sites, runtime::CudaStream stream) {
  if (sites == 0) return;
  invert_range<<<static_cast<unsigned>(sites), coarse::most_components, 0, stream>>>(matrices, components);
  const std::uint64_t work = static_cast<std::uint64_t>(sites) * static_cast<std::uint64_t>(8 * components);
  multiply_inverse_range<<<blocks_of(work), threads, 0, stream>>>(matrices, components, work);
  runtime::check_launch("coarse.eliminate");
}

template <class F>
void launch_coarse_pack(const coarse::PackArguments<F>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  const std::uint64_t work = std::uint64_t{a.list.count} * static_cast<std::uint64_t>(a.words);
  if (work == 0) return;
  pack_range<<<blocks_of(work), threads, 0, stream>>>(a, idle, work);
  runtime::check_launch("coarse.pack");
}

#define QUARKSTAR_COARSE_LAUNCHES(F)                                                                                   \
  template void launch_coarse_operator(const coarse::OperatorArguments<F>&, const std::int32_t*, runtime::CudaStream); \
  template void launch_set_columns(const coarse::ColumnArguments<F>&, std::int64_t, runtime::CudaStream);              \
  template void launch_coarse_eliminate(F*, int, std::int64_t, runtime::CudaStream);                                   \
  template void launch_coarse_pack(const coarse::PackArguments<F>&, const std::int32_t*, runtime::CudaStream);
QUARKSTAR_COARSE_LAUNCHES(float)
QUARKSTAR_COARSE_LAUNCHES(double)

}  // namespace quarkstar::cuda
