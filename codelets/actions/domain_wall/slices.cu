// CUDA driver of products with matrices in the fifth dimension: a block has the slices of a right-hand side at an outer site, a thread for
// each slice and lane. What a dense matrix multiplies is in shared memory.
#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/domain_wall/slice_site.hpp"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_words.cuh"

namespace quarkstar::cuda {
namespace {

using domain_wall::Form;
using domain_wall::SliceArguments;

constexpr int reals = 2 * domain_wall::components, most_threads = 512;

template <class F, bool Chunked>
struct Words {
  static constexpr int count = spinor_words<F>, head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(count - head) : 1;
};

/// A spinor in registers.
template <class F, bool Chunked>
struct Spinor {
  F words[spinor_words<F>];
  __device__ __forceinline__ Spinor(const F* site, int lanes, int lane) {
    load_words<Words<F, Chunked>::chunk, Words<F, Chunked>::head, CachedLoads>(words, site, lanes, lane);
  }
  __device__ __forceinline__ site::Complex<Lane<Real<F>>> component(int c) const {
    return site::SiteReader<F, Lane<Real<F>>>(words, 1).component(c);
  }
};

template <class F, bool Chunked>
__global__ void __launch_bounds__(most_threads)
    slice_kernel(const __grid_constant__ SliceArguments<F> a, const VectorStatus* status, Obedience obedience, SumTable* tables) {
  using T = Real<F>;
  using V = Lane<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  T* tile = reinterpret_cast<T*>(memory);  // [slice][real][lane]
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const int vector = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x), s = static_cast<int>(threadIdx.y), lanes = a.lanes,
            slices = a.slices;
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const bool works = s < slices;  // other threads fill a warp
  const auto at = [&](auto* field, int slice) {
    return field + ((std::size_t{blockIdx.x} * slices + slice) * a.vectors + vector) * static_cast<std::size_t>(spinor_words<F> * lanes);
  };
  const auto spinor = [&](const F* field, int slice) { return Spinor<F, Chunked>(at(field, slice), lanes, lane); };
  site::Complex<V> z[domain_wall::components];
  const bool dense = a.first.form == Form::dense;
  if (dense) {
    if (works) {
      const Spinor<F, Chunked> in = spinor(a.first.field, s);
      site::unroll<domain_wall::components>([&](auto c) {
        const site::Complex<V> value = in.component(c);
        tile[(s * reals + 2 * c) * lanes + lane] = value.re.v;
        tile[(s * reals + 2 * c + 1) * lanes + lane] = value.im.v;
      });
    }
    __syncthreads();
    if (works) {
      const int rows = domain_wall::padded_rows(slices);
      const T* matrix = a.first.numbers + 2 * vector * slices * rows + s;
      for (int from = 0; from < slices; ++from) {
        const V numbers[2] = {{a.first.factor * matrix[from * rows]}, {a.first.factor * matrix[(slices + from) * rows]}};
        const T* in = tile + from * reals * lanes + lane;
        site::unroll<domain_wall::components>([&](auto c) {
          const V re{in[2 * c * lanes]}, im{in[(2 * c + 1) * lanes]}, number = numbers[c / domain_wall::of_chirality];
          if (from == 0) z[c] = {number * re, number * im};
          else z[c] = {fma(number, re, z[c].re), fma(number, im, z[c].im)};
        });
      }
    }
  } else if (works) {
    domain_wall::add_sparse(z, true, a.first, vector, s, slices, [&](int slice) { return spinor(a.first.field, slice); });
  }
  domain_wall::Summands<V> summands;
  if (works) {
    if (a.second.form != Form::none)
      domain_wall::add_sparse(z, false, a.second, vector, s, slices, [&](int slice) { return spinor(a.second.field, slice); });
    if (a.sums.norm) summands.add_norm(z);
    if (a.sums.dot) summands.add_dot(z, spinor(a.y, s));
    F written[spinor_words<F>];
    site::write_site<F>(written, 1, z);
    store_words<Words<F, Chunked>::chunk, Words<F, Chunked>::head>(at(a.out, s), lanes, lane, written);
  }
  tables += vector;
  const auto add = [&](bool wanted, V summand) {
    if (!wanted) return;
    add_to_table(*tables, summand.v);
    tables += a.vectors;
  };
  add(a.sums.norm, summands.norm);
  add(a.sums.dot, summands.re);
  add(a.sums.imaginary, summands.im);
}

}  // namespace

template <class F>
void launch_slices(const SliceArguments<F>& arguments, bool chunked, std::int64_t outer_sites, const VectorStatus* status,
                   Obedience obedience, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  const auto lanes = static_cast<unsigned>(arguments.lanes), a_warp = 32 / lanes,
             rows = (static_cast<unsigned>(arguments.slices) + a_warp - 1) / a_warp * a_warp;
  const std::size_t shared =
      arguments.first.form == Form::dense ? static_cast<std::size_t>(arguments.slices * reals * arguments.lanes) * sizeof(Real<F>) : 0;
  const dim3 blocks(static_cast<unsigned>(outer_sites), static_cast<unsigned>(arguments.vectors)), threads(lanes, rows);
  SumTable* tables = arguments.sums.count(1) > 0 ? sum_tables() : nullptr;
  if (chunked) slice_kernel<F, true><<<blocks, threads, shared, stream>>>(arguments, status, obedience, tables);
  else slice_kernel<F, false><<<blocks, threads, shared, stream>>>(arguments, status, obedience, tables);
  runtime::check_launch("domain_wall.slices");
}

#define QUARKSTAR_LAUNCH_SLICES(F) \
  template void launch_slices<F>(const SliceArguments<F>&, bool, std::int64_t, const VectorStatus*, Obedience, runtime::CudaStream);
QUARKSTAR_LAUNCH_SLICES(double)
QUARKSTAR_LAUNCH_SLICES(float)
QUARKSTAR_LAUNCH_SLICES(Half)

}  // namespace quarkstar::cuda
