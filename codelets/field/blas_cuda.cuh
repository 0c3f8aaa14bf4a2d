#pragma once
// CUDA driver of the vector operations.
#include "codelets/arch/bulk_copies.cuh"
#include "codelets/arch/bulk_stores.cuh"
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

/// Lengths of arrays, of which there are none without elements.
template <class Operation>
inline constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
template <class Operation>
inline constexpr int coefficient_count = Operation::coefficients > 0 ? Operation::coefficients : 1;

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

/// Those of one vector.
template <class Operation, class T, int Count>
__device__ __forceinline__ void resolve(site::Complex<Lane<T>> (&c)[Count], const Coefficients& coefficients, const VectorStatus* status,
                                        int v) {
  for (int k = 0; k < Operation::coefficients; ++k) {
    const runtime::ComplexScalar z = coefficients.value[k].resolve(status, v);
    c[k] = {{static_cast<T>(z.re)}, {static_cast<T>(z.im)}};
  }
}

/// One thread per site (x) and vector (y): its sums run over the site's components in storage order, as on a CPU. Coefficients are read
/// from the state on the device.
template <class F, int Components, bool Chunked, class Operation>
__global__ void __launch_bounds__(block_threads<F, Components>, (resident_blocks<F, Components, Operation>))
    blas_range(const __grid_constant__ blas::Arguments<F> a, const __grid_constant__ Coefficients coefficients, const VectorStatus* status,
               Obedience obedience, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  using Words = std::conditional_t<Chunked, WordsInChunks<F, Components>, blas::WordsInRows>;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const auto lanes = static_cast<std::uint32_t>(a.lanes);
  const std::uint32_t block = backward<Operation> ? gridDim.x - 1 - blockIdx.x : blockIdx.x, id = block * blockDim.x + threadIdx.x;
  const int v = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), lane = static_cast<int>(id % lanes);
  V sum[sum_count<Operation>];
  for (V& s : sum) s = V{0};
  if (id < sites && v < a.vectors && (left_out == nullptr || left_out[v] == 0)) {
    site::Complex<V> c[coefficient_count<Operation>];
    resolve<Operation>(c, coefficients, status, v);
    blas::apply_to_vector<Operation, Components, Words>(a, id / lanes, v, lane, c, sum);
  }
  if constexpr (Operation::sums > 0) {
    __shared__ __align__(16) Real<F> exchange[sum_count<Operation> * block_threads<F, Components>];
    Real<F> x[sum_count<Operation>];
    for (int s = 0; s < Operation::sums; ++s) x[s] = sum[s].v;
    const auto thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    add_to_tables(x, Operation::sums, thread, exchange, [&](int row_of_sites, int s) -> SumTable* {
      const int vector = static_cast<int>(blockIdx.y * blockDim.y) + row_of_sites * arch::warp_threads / static_cast<int>(blockDim.x);
      return vector < a.vectors ? tables + s * a.vectors + vector : nullptr;
    });
  }
}

/// Sites of a block with vectors in lanes, at most 16 of them.
inline constexpr int sites_at_a_time = 16, most_threads_in_lanes = 16 * sites_at_a_time;

/// With vectors or slices in lanes, which are never in half precision: one thread per lane of a group (y) and site. in_lanes: vectors of a
/// group; 1: it is the slices of one. staged: sites come to shared memory, and go back, whole, by bulk copies. A row of 12 lanes is 192
/// bytes and ends in the middle of a line, so that loads of rows reach three quarters of a copy's bandwidth (one H200;
/// docs/results/2026-12-01-h200-bicgstab.md).
template <class F, int Components, class Operation>
__global__ void __launch_bounds__(most_threads_in_lanes, (resident_blocks<F, Components, Operation>))
    blas_in_lanes(const __grid_constant__ blas::Arguments<F> a, int in_lanes, bool staged,
                  const __grid_constant__ Coefficients coefficients, const VectorStatus* status, Obedience obedience, std::uint32_t sites,
                  SumTable* tables) {
  using V = Lane<Real<F>>;
  constexpr int fields = blas::field_count<Operation>;
  // The next kernel is not let onto the GPU before this one has ended: a hop would begin on multiprocessors whose memory is mostly shared,
  // and have little L1 for as long as it marches.
  runtime::wait_for_predecessors_alone();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ Arrival arrived;
  const std::int32_t* left_out = obedience.left_out(status);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), lane = thread % a.lanes, s = thread / a.lanes;
  const int group = static_cast<int>(blockIdx.y), v = in_lanes > 1 ? group * in_lanes + lane : group,
            words = NumberFormat<F>::site_words(2 * Components) * a.lanes;
  const std::uint32_t block = backward<Operation> ? gridDim.x - 1 - blockIdx.x : blockIdx.x, first = block * sites_at_a_time;
  const int count = static_cast<int>(min(sites - first, static_cast<std::uint32_t>(sites_at_a_time)));
  const bool in_tiles = Arrival::bulk && staged, wanted = s < count && (left_out == nullptr || left_out[v] == 0);
  // What an operation only writes must be there, too, where some of a group's vectors stay as they are.
  const auto is_read = [&](blas::Use use) { return use != blas::Use::out || (left_out != nullptr && in_lanes > 1); };
  const auto in_tile = [&](int field, int site) { return reinterpret_cast<F*>(dynamic) + (field * sites_at_a_time + site) * words; };
  /// move(place in the tile, place in memory) of one site and field for each thread, of the fields that are asked for.
  const auto for_sites = [&](auto&& wants, auto&& move) {
    for (int i = thread; i < fields * sites_at_a_time; i += threads)
      site::unroll<fields>([&](auto field) {
        const int of_site = i - field * sites_at_a_time;
        if (of_site < 0 || of_site >= count || !wants(Operation::uses[field])) return;
        const auto n = static_cast<std::size_t>(a.vectors_of[field]);
        move(in_tile(field, of_site), a.fields[field] + ((std::size_t{first} + of_site) * n + (n > 1 ? group : 0)) * words);
      });
  };
  const auto bytes = static_cast<std::uint32_t>(words * sizeof(F));
  if (in_tiles) {
    if (thread == 0) {
      arrived.init(1);
      int read = 0;
      site::unroll<fields>([&](auto i) { read += is_read(Operation::uses[i]) ? 1 : 0; });
      arrived.expect(static_cast<std::uint32_t>(read * count) * bytes);
    }
    if (__syncthreads_or(wanted ? 1 : 0) == 0) return;  // a group that is left out
    for_sites(is_read, [&](F* tile, const F* memory) { arrived.copy(tile, memory, bytes); });
  }
  V sum[sum_count<Operation>];
  for (V& of_one : sum) of_one = V{0};
  site::Complex<V> c[coefficient_count<Operation>];
  if (wanted) resolve<Operation>(c, coefficients, status, v);
  if (in_tiles) {
    arrived.wait(0);
    if (wanted) {
      F* of_site[fields];
      for (int i = 0; i < fields; ++i) of_site[i] = in_tile(i, s);
      blas::apply_to_site<Operation, Components, WordsInChunks<F, Components, SharedLoads>>(of_site, lane, a.lanes, c, sum);
    }
    let_bulk_stores_see_shared_memory();
    __syncthreads();
    for_sites([](blas::Use use) { return use != blas::Use::in; }, [&](F* tile, F* memory) { start_bulk_store(memory, tile, bytes); });
  } else if (wanted) {
    blas::apply_to_vector<Operation, Components, WordsInChunks<F, Components>>(a, first + s, group, lane, c, sum);
  }
  if constexpr (Operation::sums > 0) {
    __shared__ __align__(16) Real<F> exchange[sum_count<Operation> * most_threads_in_lanes];
    Real<F> x[sum_count<Operation>];
    for (int k = 0; k < Operation::sums; ++k) x[k] = sum[k].v;
    add_to_tables<sites_at_a_time>(x, Operation::sums, lane * sites_at_a_time + s, exchange,
                                   [&](int row, int k) { return tables + (k * a.vectors + group) * in_lanes + (in_lanes > 1 ? row : 0); });
  }
  if (in_tiles) wait_for_own_bulk_stores();
}

template <class F, int Components, bool Chunked, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, int in_lanes, const blas::Coefficient* coefficients, const VectorStatus* status,
                 Obedience obedience, std::int64_t outer_sites, runtime::CudaStream stream) {
  Coefficients copy;
  for (int k = 0; k < Operation::coefficients; ++k) copy.value[k] = coefficients[k];
  const std::int64_t sites = outer_sites * arguments.lanes;
  if (sites == 0) return;
  SumTable* tables = Operation::sums > 0 ? sum_tables() : nullptr;
  if constexpr (Chunked && !is_half<F>) {
    constexpr int in_a_line = 8;  // rows of 8 or 16 slices are whole lines, and loads of them 3 to 7 % faster than copies (one H200)
    if (in_lanes > 1 || (in_lanes == 1 && arguments.lanes % in_a_line != 0)) {
      constexpr std::size_t most_bytes = 111 << 10;  // of two blocks on a multiprocessor; with one 16 vectors are slower than without
      const std::size_t bytes = std::size_t{sites_at_a_time} * blas::field_count<Operation> *
                                static_cast<std::size_t>(NumberFormat<F>::site_words(2 * Components) * arguments.lanes) * sizeof(F);
      const bool staged = runtime::kernels_can_overlap() && bytes <= most_bytes;  // those have bulk copies
      runtime::launch_with_shared_memory(
          blas_in_lanes<F, Components, Operation>, staged ? bytes : 0, true,
          dim3(static_cast<unsigned>((outer_sites + sites_at_a_time - 1) / sites_at_a_time), static_cast<unsigned>(arguments.vectors)),
          static_cast<unsigned>(sites_at_a_time * arguments.lanes), stream, arguments, in_lanes, staged, copy, status, obedience,
          static_cast<std::uint32_t>(outer_sites), tables);
      return runtime::check_launch(Operation::name);
    }
  }
  // Vectors of a site in one block, whose rows are whole warps of one vector each; few vectors leave more threads to sites.
  const auto n = static_cast<unsigned>(arguments.vectors);
  constexpr unsigned most = block_threads<F, Components>;
  const unsigned usual = n == 1 ? 256 : n == 2 ? 128 : n <= 8 ? 64 : 32;
  const unsigned width = std::min(usual, std::max(32u, most / n / 32 * 32)), rows = std::min(n, most / width);
  runtime::launch_overlapping(blas_range<F, Components, Chunked, Operation>,
                              dim3(static_cast<unsigned>((sites + width - 1) / width), (n + rows - 1) / rows), dim3(width, rows), stream,
                              arguments, copy, status, obedience, static_cast<std::uint32_t>(sites), tables);
  runtime::check_launch(Operation::name);
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one kind of vector.
#define QUARKSTAR_BLAS_LAUNCH(F, components, chunked, operation)                                                      \
  template void quarkstar::cuda::launch_blas<F, components, chunked, quarkstar::blas::operation>(                     \
      const quarkstar::blas::Arguments<F>&, int, const quarkstar::blas::Coefficient*, const quarkstar::VectorStatus*, \
      quarkstar::Obedience, std::int64_t, quarkstar::runtime::CudaStream);
