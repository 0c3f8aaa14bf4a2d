#include "codelets/arch/cuda_sum.cuh"
#include "codelets/contract/contract_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned block_threads = 128;

/// One thread per site of a time slice, neighbouring threads in neighbouring lanes: whole warps add to one table.
template <class Family>
__global__ void __launch_bounds__(block_threads)
    contract_slice(const __grid_constant__ contract::Arguments a, int slice, int first, int count, std::uint32_t sites, SumTable* tables) {
  using V = Lane<double>;
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = a.shape.stride[3], lanes = stride != 0 ? a.lanes / 2 : a.lanes;
  const int number = static_cast<int>(id) / lanes, in_half = static_cast<int>(id) % lanes;
  const bool exists = id < sites, upper = slice >= a.shape.outer[3];
  // The lanes of one half in time: a bit inserted at the stride.
  const int lane = stride == 0 ? in_half : (in_half & (stride - 1)) | ((in_half & ~(stride - 1)) << 1) | (upper ? stride : 0);
  Coord at = coordinates(exists ? number : 0, Coord{a.shape.outer[0], a.shape.outer[1], a.shape.outer[2], 1});
  at[3] = upper ? slice - a.shape.outer[3] : slice;
  V values[Family::numbers * Family::reals];
  Family::at_site(contract::SiteColumns<V, CachedLoads>{a, a.site_at(at) + lane * a.lane}, a.from_source(at), values);
  const auto phase = [&](const double* table, int mu) {
    const double* of_lane = a.phase_at(table, at, lane, mu);
    return site::Complex<V>{{of_lane[0]}, {of_lane[1]}};
  };
  contract::for_summands<Family>(a, values, first, count, phase,
                                 [&](int sum, const V& summand) { add_to_table(tables[sum], exists ? summand.v : 0.0); });
}

}  // namespace

int momenta_at_a_time(int channels) { return runtime::most_sums / (2 * channels); }

template <class Family>
void launch_contract(const contract::Arguments& arguments, int slice, int first, int count, runtime::CudaStream stream) {
  const int lanes = arguments.shape.stride[3] != 0 ? arguments.lanes / 2 : arguments.lanes;
  const auto sites = static_cast<std::uint32_t>(volume(arguments.shape.outer) / arguments.shape.outer[3] * lanes);
  runtime::launch_overlapping(contract_slice<Family>, (sites + block_threads - 1) / block_threads, block_threads, stream, arguments, slice,
                              first, count, sites, sum_tables());
  runtime::check_launch(Family::name.data());
}

#define QUARKSTAR_CORRELATORS(family) \
  template void launch_contract<contract::family>(const contract::Arguments&, int, int, int, runtime::CudaStream);
#include "codelets/contract/families.inc"
#undef QUARKSTAR_CORRELATORS

}  // namespace quarkstar::cuda
