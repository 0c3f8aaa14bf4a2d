// CUDA driver of products with matrices in the fifth dimension alone: a block has the slices of a right-hand side at an outer site, a
// thread for each slice and lane. What a dense matrix multiplies is in shared memory.
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
  auto* tile = reinterpret_cast<InTile<F>*>(memory);
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const int vector = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x), s = static_cast<int>(threadIdx.y), lanes = a.lanes,
            slices = a.slices;
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const auto at = [&](auto* field, int slice) {
    return field + ((std::size_t{blockIdx.x} * slices + slice) * a.vectors + vector) * static_cast<std::size_t>(spinor_words<F> * lanes);
  };
  const auto spinor = [&](int slice) { return SpinorOfSlice<F, Chunked>(at(a.product.field, slice), lanes, lane); };
  site::Complex<V> z[domain_wall::components];
  if (a.product.form == Form::dense) {
    const SpinorOfSlice<F, Chunked> own = spinor(s);
    site::unroll<domain_wall::components>([&](auto c) {
      tile[(s * domain_wall::components + c) * lanes + lane] = {own.component(c).re.v, own.component(c).im.v};
    });
    __syncthreads();
    const int rows = domain_wall::padded_rows(slices);
    const Real<F>* matrix = a.product.numbers + 2 * vector * slices * rows + s;
    for (int from = 0; from < slices; ++from) {
      const V numbers[2] = {{a.product.factor * matrix[from * rows]}, {a.product.factor * matrix[(slices + from) * rows]}};
      site::unroll<domain_wall::components>([&](auto c) {
        const InTile<F> in = tile[(from * domain_wall::components + c) * lanes + lane];
        const V re{in.x}, im{in.y}, number = numbers[c / domain_wall::of_chirality];
        if (from == 0) z[c] = {number * re, number * im};
        else z[c] = {fma(number, re, z[c].re), fma(number, im, z[c].im)};
      });
    }
  } else {
    domain_wall::add_sparse(z, true, a.product, vector, s, slices, spinor);
  }
  store_slice<F, Chunked>(at(a.out, s), lanes, lane, z);
}

}  // namespace

template <class F>
void launch_slices(const SliceArguments<F>& arguments, bool chunked, std::int64_t outer_sites, const VectorStatus* status,
                   Obedience obedience, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  const auto lanes = static_cast<unsigned>(arguments.lanes), slices = static_cast<unsigned>(arguments.slices);
  const std::size_t shared =
      arguments.product.form == Form::dense ? std::size_t{slices} * domain_wall::components * lanes * sizeof(InTile<F>) : 0;
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
