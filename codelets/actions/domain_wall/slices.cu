// CUDA driver of products with matrices in the fifth dimension alone: a block has the slices of a right-hand side at an outer site, a
// thread for each slice and lane, and shares what its threads have read.
#include "codelets/actions/domain_wall/slices_in_lanes_cuda.cuh"
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

/// Sites of a block where lanes hold L slices.
template <int L>
inline constexpr int sites_in_lanes = L == 8 ? 32 : 16;

template <class F, int L>
__global__ void __launch_bounds__(L* sites_in_lanes<L>)
    slices_in_lanes_kernel(const __grid_constant__ SliceArguments<F> a, std::uint32_t sites, const VectorStatus* status,
                           Obedience obedience) {
  using Slices = SlicesOfSites<F, L, sites_in_lanes<L>>;
  extern __shared__ __align__(16) unsigned char memory[];
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const int vector = static_cast<int>(blockIdx.y), slice = static_cast<int>(threadIdx.x) % L;
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const std::uint32_t i = blockIdx.x * sites_in_lanes<L> + threadIdx.x / L;
  const std::size_t at = (std::size_t{i} * a.vectors + vector) * (spinor_words<F> * L);
  const auto read = [&](int other) { return SpinorOfSlice<F, true>(a.product.field + at, L, other); };
  site::Complex<Lane<Real<F>>> z[domain_wall::components];
  if (a.product.form == Form::dense) {
    const Slices shared(memory);
    auto* const matrix = reinterpret_cast<Real<F>*>(memory + Slices::bytes);
    Slices::bring_matrix(matrix, a.product, vector);
    if (i < sites) {
      const auto own = read(slice);
      site::unroll<domain_wall::components>([&](auto c) { z[c] = own.component(c); });
      shared.store(z);
    }
    __syncthreads();
    shared.multiply(z, matrix);
  } else if (i < sites) {
    domain_wall::add_sparse(z, true, a.product, vector, slice, L, read);
  }
  if (i < sites) store_slice<F, true>(a.out + at, L, slice, z);
}

template <class F>
void launch_slices_in_lanes(const SliceArguments<F>& arguments, std::int64_t sites, const VectorStatus* status, Obedience obedience,
                            runtime::CudaStream stream) {
  const auto launch = [&](auto slices) {
    if (arguments.slices != slices) return;
    constexpr int of_block = sites_in_lanes<slices>;
    using Slices = SlicesOfSites<F, slices, of_block>;
    const bool dense = arguments.product.form == Form::dense;
    runtime::launch_with_shared_memory(
        slices_in_lanes_kernel<F, slices>, dense ? Slices::bytes + Slices::bytes_of_matrix : 0, false,
        dim3(static_cast<unsigned>((sites + of_block - 1) / of_block), static_cast<unsigned>(arguments.vectors)),
        static_cast<unsigned>(slices * of_block), stream, arguments, static_cast<std::uint32_t>(sites), status, obedience);
  };
  launch(site::Index<8>{});
  launch(site::Index<12>{});
  launch(site::Index<16>{});
  runtime::check_launch("domain_wall.slices");
}

}  // namespace

template <class F>
void launch_slices(const SliceArguments<F>& arguments, bool chunked, bool in_lanes, std::int64_t outer_sites, const VectorStatus* status,
                   Obedience obedience, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  if constexpr (!is_half<F>)
    if (in_lanes) return launch_slices_in_lanes(arguments, outer_sites, status, obedience, stream);
  const auto lanes = static_cast<unsigned>(arguments.lanes), slices = static_cast<unsigned>(arguments.slices);
  const std::size_t shared = std::size_t{slices} * SliceTile<F>::numbers * lanes * sizeof(SharedNumber<F>);
  const dim3 blocks(static_cast<unsigned>(outer_sites), static_cast<unsigned>(arguments.vectors)), threads(lanes, slices);
  if (chunked) slice_kernel<F, true><<<blocks, threads, shared, stream>>>(arguments, status, obedience);
  else slice_kernel<F, false><<<blocks, threads, shared, stream>>>(arguments, status, obedience);
  runtime::check_launch("domain_wall.slices");
}

#define QUARKSTAR_LAUNCH_SLICES(F) \
  template void launch_slices<F>(const SliceArguments<F>&, bool, bool, std::int64_t, const VectorStatus*, Obedience, runtime::CudaStream);
QUARKSTAR_LAUNCH_SLICES(double)
QUARKSTAR_LAUNCH_SLICES(float)
QUARKSTAR_LAUNCH_SLICES(Half)

}  // namespace quarkstar::cuda
