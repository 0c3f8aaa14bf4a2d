#pragma once
// CUDA driver of the vector operations.
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_words.cuh"
#include "codelets/field/blas_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>
#include <type_traits>

namespace quarkstar::cuda {

struct Coefficients {
  blas::Coefficient value[blas::Arguments<double>::most_coefficients];
};

/// Components of a site in chunks.
template <class F, int Components, class Loads = CachedLoads>
struct WordsInChunks {
  static constexpr int head = site::head_words<F>, words = NumberFormat<F>::site_words(2 * Components);
  static constexpr int chunk = site::chunk_words<F>(words - head), at_a_time = is_half<F> ? chunk : chunk / 2;
  using V = Lane<Real<F>>;
  using Component = site::Complex<V>;

  template <class Word>
  static __device__ __forceinline__ Word* place(Word* site, int component, std::size_t lane, int lanes) {
    return site + (head + component / at_a_time * chunk) * lanes + lane * chunk;
  }
  static __device__ __forceinline__ void load(Component (&z)[at_a_time], const F* site, int component, std::size_t lane, int lanes) {
    F read[chunk];
    load_chunk<chunk, Loads>(read, place(site, component, lane, lanes));
    site::unroll<at_a_time>([&](auto k) {
      if constexpr (is_half<F>) z[k] = V::load_pair(read + k);
      else z[k] = {{read[2 * k]}, {read[2 * k + 1]}};
    });
  }
  static __device__ __forceinline__ void store(F* site, int component, std::size_t lane, int lanes, const Component (&z)[at_a_time]) {
    if constexpr (!is_half<F>) {
      F written[chunk];
      site::unroll<at_a_time>([&](auto k) {
        written[2 * k] = z[k].re.v;
        written[2 * k + 1] = z[k].im.v;
      });
      store_chunk<chunk>(place(site, component, lane, lanes), written);
    }
  }
  static __device__ __forceinline__ void write(F* site, std::size_t lane, int lanes, const Component (&z)[Components]) {
    F written[words];
    site::write_site<F>(written, 1, z);
    store_words<chunk, head>(site, lanes, static_cast<int>(lane), written);
  }
};

/// Threads of a block at most, and blocks of a multiprocessor that registers must leave room for. In half precision a spinor's results wait
/// in registers for their unit: without a limit operations on five fields take 120 of them, and with 96, which let a fifth block in, they
/// spill (one H200: 11 % slower).
template <class F, int Components>
inline constexpr int block_threads = Components == colour_components ? 1024
                                     : is_half<F>                    ? 128
                                                                     : 256;
template <class F, int Components, class Operation>
inline constexpr int resident_blocks = Components == colour_components    ? 1
                                       : !is_half<F>                      ? 4
                                       : blas::field_count<Operation> > 3 ? 4
                                                                          : 8;

/// Passes that come behind another over the same fields go backward, because what that one has touched last is still in L2.
template <class Operation>
inline constexpr bool backward = std::is_same_v<Operation, blas::BicgstabDirection> || std::is_same_v<Operation, blas::CgSolutionDirection>;

/// Sites of a block with vectors in lanes, at most 16 of them, not in half precision.
inline constexpr int sites_at_a_time = 16;

/// One thread per site (x) and vector (y), or with vectors in lanes per vector of a group (of block y) and site: its sums run over the
/// site's components in storage order, as on a CPU. Coefficients are read from the state on the device.
template <class F, int Components, bool Chunked, class Operation>
__global__ void __launch_bounds__(block_threads<F, Components>, (resident_blocks<F, Components, Operation>))
    blas_range(const __grid_constant__ blas::Arguments<F> a, bool vectors_in_lanes, const __grid_constant__ Coefficients coefficients,
               const VectorStatus* status, Obedience obedience, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  using Words = std::conditional_t<Chunked, WordsInChunks<F, Components>, blas::WordsInRows>;
  constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const bool in_lanes = Chunked && vectors_in_lanes;
  const auto lanes = static_cast<std::uint32_t>(a.lanes);
  const std::uint32_t block = backward<Operation> ? gridDim.x - 1 - blockIdx.x : blockIdx.x, id = block * blockDim.x + threadIdx.x;
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), lane = static_cast<int>(id % lanes);
  const int v = in_lanes ? row * a.lanes + lane : row;
  V sum[sum_count];
  for (V& s : sum) s = V{0};
  if (id < sites && row < a.vectors && (left_out == nullptr || left_out[v] == 0)) {
    site::Complex<V> c[coefficient_count];
    for (int k = 0; k < Operation::coefficients; ++k) {
      const runtime::ComplexScalar z = coefficients.value[k].resolve(status, v);
      c[k] = {{static_cast<Real<F>>(z.re)}, {static_cast<Real<F>>(z.im)}};
    }
    blas::apply_to_vector<Operation, Components, Words>(a, id / lanes, row, lane, c, sum);
  }
  if constexpr (Operation::sums > 0) {
    __shared__ __align__(16) Real<F> exchange[sum_count * block_threads<F, Components>];
    Real<F> x[sum_count];
    for (int s = 0; s < sum_count; ++s) x[s] = sum[s].v;
    const auto thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    if constexpr (Chunked) {
      if (in_lanes) {
        const int own = thread % a.lanes * sites_at_a_time + thread / a.lanes;
        return add_to_tables<sites_at_a_time>(
            x, sum_count, own, exchange, [&](int row_of_sites, int s) { return tables + (s * a.vectors + row) * a.lanes + row_of_sites; });
      }
    }
    add_to_tables(x, sum_count, thread, exchange, [&](int row_of_sites, int s) -> SumTable* {
      const int vector = static_cast<int>(blockIdx.y * blockDim.y) + row_of_sites * arch::warp_threads / static_cast<int>(blockDim.x);
      return vector < a.vectors ? tables + s * a.vectors + vector : nullptr;
    });
  }
}

template <class F, int Components, bool Chunked, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, bool vectors_in_lanes, const blas::Coefficient* coefficients,
                 const VectorStatus* status, Obedience obedience, std::int64_t outer_sites, runtime::CudaStream stream) {
  Coefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  // Vectors of a site in one block, whose rows are whole warps of one vector each; few vectors leave more threads to sites.
  const auto n = static_cast<unsigned>(arguments.vectors);
  constexpr unsigned most = block_threads<F, Components>;
  const unsigned usual = n == 1 ? 256 : n == 2 ? 128 : n <= 8 ? 64 : 32;
  const unsigned width =
      vectors_in_lanes ? sites_at_a_time * static_cast<unsigned>(arguments.lanes) : std::min(usual, std::max(32u, most / n / 32 * 32));
  const unsigned rows = vectors_in_lanes ? 1 : std::min(n, most / width);
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  runtime::launch_overlapping(blas_range<F, Components, Chunked, Operation>,
                              dim3(static_cast<unsigned>((sites + width - 1) / width), (n + rows - 1) / rows), dim3(width, rows), stream,
                              arguments, vectors_in_lanes, copy, status, obedience, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one kind of vector.
#define QUARKSTAR_BLAS_LAUNCH(F, components, chunked, operation)                                                       \
  template void quarkstar::cuda::launch_blas<F, components, chunked, quarkstar::blas::operation>(                      \
      const quarkstar::blas::Arguments<F>&, bool, const quarkstar::blas::Coefficient*, const quarkstar::VectorStatus*, \
      quarkstar::Obedience, std::int64_t, quarkstar::runtime::CudaStream);
