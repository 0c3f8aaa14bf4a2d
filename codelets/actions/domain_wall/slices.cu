// CUDA driver of products with matrices in the fifth dimension alone: a block has the slices of a right-hand side at an outer site, a
// thread for each slice and lane, and shares what its threads have read.
#include "codelets/actions/domain_wall/slice_cuda.cuh"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

using domain_wall::Form;
using domain_wall::SliceArguments;

constexpr int most_threads = 512;

template <class F, bool Chunked>
__global__ void __launch_bounds__(most_threads)
    slice_kernel(const __grid_constant__ SliceArguments<F> a, const VectorStatus* status, Obedience obedience) {
  using V = Lane<Real<F>>;
  extern __shared__ __align__(16) unsigned char memory[];
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const int vector = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x), s = static_cast<int>(threadIdx.y), lanes = a.lanes,
            slices = a.slices;
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const auto at = [&](auto* field, int slice) {
    return field + ((std::size_t{blockIdx.x} * slices + slice) * a.vectors + vector) * static_cast<std::size_t>(spinor_words<F> * lanes);
  };
  const SliceTile<F> tile{reinterpret_cast<SharedNumber<F>*>(memory) + lane, lanes};
  const SpinorOfSlice<F, Chunked> own(at(a.product.field, s), lanes, lane);
  site::Complex<V> z[domain_wall::components];
  site::unroll<domain_wall::components>([&](auto c) { z[c] = own.component(c); });
  tile.store(s, z);
  __syncthreads();
  if (a.product.form == Form::dense) {
    multiply_slices(tile, tile, true, a.product, vector, slices);
    tile.load(s, z);
  } else {
    domain_wall::add_sparse(z, true, a.product, vector, s, slices, tile);
  }
  store_slice<F, Chunked>(at(a.out, s), lanes, lane, z);
}

}  // namespace

template <class F>
void launch_slices(const SliceArguments<F>& arguments, bool chunked, std::int64_t outer_sites, const VectorStatus* status,
                   Obedience obedience, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  const auto lanes = static_cast<unsigned>(arguments.lanes), slices = static_cast<unsigned>(arguments.slices);
  const std::size_t shared = std::size_t{slices} * SliceTile<F>::numbers * lanes * sizeof(SharedNumber<F>);
  const dim3 blocks(static_cast<unsigned>(outer_sites), static_cast<unsigned>(arguments.vectors)), threads(lanes, slices);
  if (chunked) slice_kernel<F, true><<<blocks, threads, shared, stream>>>(arguments, status, obedience);
  else slice_kernel<F, false><<<blocks, threads, shared, stream>>>(arguments, status, obedience);
  runtime::check_launch("domain_wall.slices");
}

#define QUARKSTAR_LAUNCH_SLICES(F) \
  template void launch_slices<F>(const SliceArguments<F>&, bool, std::int64_t, const VectorStatus*, Obedience, runtime::CudaStream);
QUARKSTAR_LAUNCH_SLICES(double)
QUARKSTAR_LAUNCH_SLICES(float)
QUARKSTAR_LAUNCH_SLICES(Half)

}  // namespace quarkstar::cuda
