#include "codelets/arch/cuda_words.cuh"
#include "codelets/arch/lane.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/threads_cuda.cuh"

#include <cuda_runtime.h>

#include <algorithm>

namespace quarkstar::cuda {
namespace {

using site::Lane;

constexpr unsigned threads = 128;

unsigned blocks_of(std::uint64_t work) { return static_cast<unsigned>((work + threads - 1) / threads); }

/// Ordinary loads, of shared memory.
struct SharedLoads {
  template <class Bits>
  static __device__ __forceinline__ Bits bits(const Bits* p) {
    return *p;
  }
};

/// sum_t += columns of one group of components times these components of vector t, for Rows rows of a group that follow each other and
/// Count vectors, whose places in a group of components are `at` words behind its first. matrix: of the first of these rows and columns.
template <class Loads, int Rows, int Count, class F>
__device__ __forceinline__ void multiply_columns(const F* matrix, const F* from, const int (&at)[Count],
                                                 site::Complex<Lane<F>> (&sum)[Rows][Count]) {
  constexpr int lanes = coarse::lanes_of_components, chunk = 16 / static_cast<int>(sizeof(F)), rows = std::min(Rows, chunk);
  site::unroll<lanes / chunk>([&](auto part) {
    F re[Count][chunk], im[Count][chunk];
    site::unroll<Count>([&](auto t) {
      load_chunk<chunk, Loads>(re[t], from + at[t] + part * chunk);
      load_chunk<chunk, Loads>(im[t], from + at[t] + lanes + part * chunk);
    });
    site::unroll<chunk>([&](auto column) {
      const F* of_column = matrix + (part * chunk + column) * (2 * lanes);
      F m_re[Rows], m_im[Rows];
      site::unroll<Rows / rows>([&](auto i) {
        load_chunk<rows, Loads>(m_re + i * rows, of_column + i * rows);
        load_chunk<rows, Loads>(m_im + i * rows, of_column + lanes + i * rows);
      });
      site::unroll<Rows>([&](auto row) {
        site::unroll<Count>([&](auto t) {
          sum[row][t] = site::multiply_add({{m_re[row]}, {m_im[row]}}, {{re[t][column]}, {im[t][column]}}, sum[row][t]);
        });
      });
    });
  });
}

/// coarse::multiply_block() for Rows rows of a group that follow each other and Count vectors, placed as above.
template <int Rows, int Count, class F, class Arguments>
__device__ __forceinline__ void multiply_block(const Arguments& a, const F* matrix, const F* from, const int (&at)[Count],
                                               site::Complex<Lane<F>> (&sum)[Rows][Count]) {
  constexpr int words = 2 * coarse::lanes_of_components;
  for (int column_group = 0; column_group < a.groups; ++column_group) {
    multiply_columns<CachedLoads>(matrix, from, at, sum);
    matrix += coarse::lanes_of_components * words;
    from += a.vectors * words;
  }
}

/// out_v = sum_v, or base_v -+ sum_v, for Rows rows of a group from `lane` on.
template <int Rows, int Count, class F>
__device__ __forceinline__ void store_rows(const coarse::OperatorArguments<F>& a, std::size_t outer, int group, int lane,
                                           const int (&at)[Count], const VectorsOfThread<Count>& vectors,
                                           const site::Complex<Lane<F>> (&sum)[Rows][Count]) {
  constexpr int words = 2 * coarse::lanes_of_components;
  const std::size_t begin =
      (outer * static_cast<std::size_t>(a.groups) + static_cast<std::size_t>(group)) * static_cast<std::size_t>(a.vectors * words) +
      static_cast<std::size_t>(lane);
  site::unroll<Count>([&](auto t) {
    if (!vectors.wanted(t)) return;
    site::unroll<Rows>([&](auto row) {
      const std::size_t word = begin + static_cast<std::size_t>(at[t] + row);
      site::Complex<Lane<F>> result = sum[row][t];
      if (a.base != nullptr) {
        const site::Complex<Lane<F>> base{{a.base[word]}, {a.base[word + coarse::lanes_of_components]}};
        result = a.add != 0 ? base + result : base - result;
      }
      a.out[word] = result.re.v;
      a.out[word + coarse::lanes_of_components] = result.im.v;
    });
  });
}

/// coarse::multiply_rows() with a thread per site, Rows rows of a group and Count vectors: of a product of Rows by Count numbers only
/// Rows + Count are read. The threads of a site follow each other, so that those of other vectors find its matrices in the cache.
template <int Rows, int Count, class F>
__global__ void __launch_bounds__(threads)
    operator_range(const __grid_constant__ coarse::OperatorArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  using V = Lane<F>;
  constexpr int words = 2 * coarse::lanes_of_components, lanes = coarse::lanes_of_components / Rows;
  const std::uint64_t id = thread_number();
  if (idles(idle) || id >= work) return;
  const auto groups = static_cast<std::uint64_t>(a.groups), threads_of_site = groups * lanes;
  const std::uint64_t in_site = id % threads_of_site, place = id / threads_of_site;
  const auto parts = static_cast<std::uint64_t>((a.vectors + Count - 1) / Count);
  const VectorsOfThread<Count> vectors{static_cast<int>(place % parts) * Count, a.vectors - 1, a.left_out};
  if (vectors.none()) return;
  int at[Count];
  for (int t = 0; t < Count; ++t) at[t] = vectors.number(t) * words;
  const auto lane = static_cast<int>(in_site % lanes) * Rows;
  const std::uint64_t group = in_site / lanes;
  coarse::Sources<F> sources;
  const std::size_t outer = coarse::find_sources(a, static_cast<std::uint32_t>(place / parts), sources);
  const auto block_words = static_cast<std::size_t>(a.groups * coarse::lanes_of_components * words);
  const std::size_t site = static_cast<std::size_t>(a.parity) * static_cast<std::size_t>(a.outer_sites) + outer;
  const F* matrix = a.matrices + (site * groups + group) * (coarse::blocks_per_site * block_words) + lane;
  site::Complex<V> sum[Rows][Count];
  site::unroll<Rows>([&](auto row) { site::unroll<Count>([&](auto t) { sum[row][t] = {V{0}, V{0}}; }); });
  for (int b = a.first_block; b < a.end_block; ++b)
    multiply_block(a, matrix + static_cast<std::size_t>(b == 0 ? a.self_block : b) * block_words, sources.from[b], at, sum);
  store_rows(a, outer, static_cast<int>(group), lane, at, vectors, sum);
}

/// Of staged_operator_range(): stages of the pipeline, sites and threads of a block, and the shared memory that its stages may take.
constexpr int stages = 3, most_sites_of_block = 4, most_staged_threads = 256;
constexpr std::size_t most_shared_bytes = 48 * 1024 - sizeof(float*) * 9 * most_sites_of_block;

/// What one stage holds of one site: eight columns of one block of its matrix, [group of rows][column][re, im][row of the group], and the
/// components of the vectors that they meet, [vector][re, im][component].
struct Stage {
  static constexpr int lanes = coarse::lanes_of_components, x_words = 2 * lanes, group_words = lanes * x_words;
  static constexpr int padded_group_words = group_words + 8;  ///< so that threads of several groups of rows meet other banks
  int groups, vectors;
  QUARKSTAR_HD constexpr int words() const { return groups * padded_group_words + vectors * x_words; }
};

/// 16 bytes to shared memory, past L1; complete after wait_for_copies().
__device__ __forceinline__ void copy_16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}
__device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until all but the newest `Newest` groups of copies of this thread have arrived.
template <int Newest>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Newest) : "memory");
}

/// coarse::multiply_rows() with a thread per site, Rows rows of a group and Count vectors, in single precision. A block has
/// `sites_of_block` sites; blockDim.x / sites_of_block threads of a site copy what they need of its matrix, which is read once and is
/// nearly all that is read, to shared memory, two stages before they multiply. The same products and sums in the same order as
/// operator_range().
template <int Rows, int Count>
__global__ void __launch_bounds__(most_staged_threads, 2)
    staged_operator_range(const __grid_constant__ coarse::OperatorArguments<float> a, const std::int32_t* idle, int sites_of_block) {
  using V = Lane<float>;
  constexpr int lanes = Stage::lanes, words = Stage::x_words, tiles = lanes / Rows, chunk = 4;
  extern __shared__ __align__(16) float shared[];
  __shared__ const float* from[most_sites_of_block][9];
  if (idles(idle)) return;
  const Stage stage{a.groups, a.vectors};
  const int threads_of_site = static_cast<int>(blockDim.x) / sites_of_block, mine = static_cast<int>(threadIdx.x) / threads_of_site,
            thread = static_cast<int>(threadIdx.x) % threads_of_site, row_threads = a.groups * tiles;
  const std::uint32_t place = blockIdx.x * static_cast<std::uint32_t>(sites_of_block) + static_cast<std::uint32_t>(mine);
  const std::uint32_t i = min(place, a.list.count - 1);
  const std::size_t outer = a.list.outer(a.tables, i);
  for (int b = thread; b < 9; b += threads_of_site) from[mine][b] = coarse::find_source(a, i, outer, b);
  const VectorsOfThread<Count> vectors{thread / row_threads * Count, a.vectors - 1, a.left_out};
  const bool wanted = place < a.list.count && !vectors.none();
  const int row_thread = thread % row_threads, group = row_thread / tiles, lane = row_thread % tiles * Rows;
  const auto block_words = static_cast<std::size_t>(a.groups * Stage::group_words);
  const std::size_t site = static_cast<std::size_t>(a.parity) * static_cast<std::size_t>(a.outer_sites) + outer;
  const float* matrix = a.matrices + site * static_cast<std::size_t>(a.groups) * (coarse::blocks_per_site * block_words);
  float* own = shared + mine * stage.words();
  const int stage_words = sites_of_block * stage.words(), first = a.first_block * a.groups,
            last = a.end_block * a.groups;  // of (block, column group)
  if (__syncthreads_or(wanted ? 1 : 0) == 0) return;

  const auto fetch = [&](int step, int slot) {
    const int b = step / a.groups, column_group = step % a.groups;
    const float* columns = matrix + static_cast<std::size_t>(b == 0 ? a.self_block : b) * block_words +
                           static_cast<std::size_t>(column_group * Stage::group_words);
    const float* x = from[mine][b] + static_cast<std::size_t>(column_group * a.vectors * words);
    float* to = own + slot * stage_words;
    constexpr int of_group = Stage::group_words / chunk;
    for (int c = thread; c < a.groups * of_group; c += threads_of_site) {
      const int g = c / of_group, in_group = c % of_group * chunk;
      copy_16(to + g * Stage::padded_group_words + in_group,
              columns + static_cast<std::size_t>(g) * (coarse::blocks_per_site * block_words) + in_group);
    }
    to += a.groups * Stage::padded_group_words;
    for (int c = thread * chunk; c < a.vectors * words; c += threads_of_site * chunk) copy_16(to + c, x + c);
  };

  site::Complex<V> sum[Rows][Count];
  site::unroll<Rows>([&](auto row) { site::unroll<Count>([&](auto t) { sum[row][t] = {V{0}, V{0}}; }); });
  int at[Count];
  for (int t = 0; t < Count; ++t) at[t] = vectors.number(t) * words;
  for (int step = first; step < first + stages - 1; ++step) {
    if (step < last) fetch(step, step - first);
    end_of_copies();
  }
  int slot = 0;
  for (int step = first; step < last; ++step) {
    wait_for_copies<stages - 2>();
    __syncthreads();  // all have multiplied what the next stage overwrites, and what all copied has arrived
    if (const int next = step + stages - 1; next < last) fetch(next, slot == 0 ? stages - 1 : slot - 1);
    end_of_copies();
    if (wanted) {
      const float* slot_words = own + slot * stage_words;
      multiply_columns<SharedLoads>(slot_words + group * Stage::padded_group_words + lane,
                                    slot_words + a.groups * Stage::padded_group_words, at, sum);
    }
    slot = slot == stages - 1 ? 0 : slot + 1;
  }
  if (wanted) store_rows(a, outer, group, lane, at, vectors, sum);
}

/// coarse::multiply_dense_rows() with a thread per row and Count vectors.
template <int Count, class F>
__global__ void __launch_bounds__(threads)
    dense_range(const __grid_constant__ coarse::DenseArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  constexpr int words = 2 * coarse::lanes_of_components;
  const std::uint64_t id = thread_number();
  const VectorsOfThread<Count> vectors{static_cast<int>(blockIdx.y) * Count, a.vectors - 1, a.left_out};
  if (idles(idle) || id >= work || vectors.none()) return;
  int at[Count];
  for (int t = 0; t < Count; ++t) at[t] = vectors.number(t) * words;
  const auto lane = static_cast<int>(id % coarse::lanes_of_components);
  const std::uint64_t row = id / coarse::lanes_of_components;
  const auto groups = static_cast<std::uint64_t>(a.groups);
  const auto outer = static_cast<std::size_t>(row / groups);
  const auto group = static_cast<int>(row % groups);
  const F* matrix = a.rows(outer, group) + lane;
  site::Complex<Lane<F>> sum[1][Count];
  for (auto& s : sum[0]) s = {Lane<F>{0}, Lane<F>{0}};
  for (int site = 0; site < a.column_sites; ++site, matrix += a.block_words()) multiply_block(a, matrix, a.column_vector(site), at, sum);
  F* out = a.out + (outer * groups + static_cast<std::size_t>(group)) * static_cast<std::size_t>(a.vectors * words) + lane;
  site::unroll<Count>([&](auto t) {
    if (!vectors.wanted(t)) return;
    out[at[t]] = sum[0][t].re.v;
    out[at[t] + coarse::lanes_of_components] = sum[0][t].im.v;
  });
}

template <class F>
__global__ void __launch_bounds__(threads) add_columns_range(const __grid_constant__ coarse::ColumnArguments<F> a, std::uint64_t work) {
  const std::uint64_t id = thread_number(), rows = static_cast<std::uint64_t>(2 * a.count);
  if (id < work) coarse::add_column_element(a, id / rows, static_cast<int>(id % rows), static_cast<int>(blockIdx.y));
}

template <class F>
__global__ void __launch_bounds__(threads) add_adjoint_range(const __grid_constant__ coarse::AdjointArguments<F> a, std::uint64_t work) {
  const std::uint64_t id = thread_number(), columns = static_cast<std::uint64_t>(2 * a.columns.vectors);
  if (id < work)
    coarse::add_adjoint_element(a, static_cast<std::uint32_t>(id / columns), static_cast<int>(id % columns), static_cast<int>(blockIdx.y));
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

/// False where a block would be too large, or have less than a warp. Rows and vectors of a thread: docs/results/2026-11-28-h200.md.
bool launch_staged(const coarse::OperatorArguments<float>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  if (a.list.count == 0) return true;
  const Stage stage{a.groups, a.vectors};
  const std::size_t site_bytes = sizeof(float) * static_cast<std::size_t>(stages * stage.words());
  const auto launch = [&](auto rows, auto count) {
    const int of_site = a.groups * (Stage::lanes / rows) * ((a.vectors + count - 1) / count);
    const int sites = std::min({most_sites_of_block, static_cast<int>(most_shared_bytes / site_bytes), 128 / of_site});
    const int of_block = std::max(sites, 1), threads_of_block = of_block * of_site;
    if (threads_of_block > most_staged_threads || threads_of_block < 32 || site_bytes > most_shared_bytes) return false;
    const auto blocks = (a.list.count + static_cast<std::uint32_t>(of_block) - 1) / static_cast<std::uint32_t>(of_block);
    staged_operator_range<rows, count>
        <<<blocks, static_cast<unsigned>(threads_of_block), static_cast<std::size_t>(of_block) * site_bytes, stream>>>(a, idle, of_block);
    runtime::check_launch("coarse.operator");
    return true;
  };
  // Few sites: more threads for each, as far as a block holds them.
  constexpr std::uint32_t few_sites = 2048;
  if (a.list.count < few_sites && (a.vectors > 8 ? launch(site::Index<2>{}, site::Index<3>{}) : launch(site::Index<2>{}, site::Index<2>{})))
    return true;
  return a.vectors > 8 ? launch(site::Index<4>{}, site::Index<6>{}) : launch(site::Index<4>{}, site::Index<4>{});
}

}  // namespace

template <class F>
void launch_coarse_operator(const coarse::OperatorArguments<F>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  const auto launch = [&](auto rows, auto count) {
    const auto parts = static_cast<std::uint64_t>((a.vectors + count - 1) / count);
    const std::uint64_t work = a.list.count * parts * static_cast<std::uint64_t>(a.groups * (coarse::lanes_of_components / rows));
    if (work > 0) operator_range<rows, count><<<blocks_of(work), threads, 0, stream>>>(a, idle, work);
  };
  if constexpr (sizeof(F) == 4) {
    if (a.vectors > 1 && launch_staged(a, idle, stream)) return;
  }
  // In double precision, and what blocks do not hold. Of 1, 2, 4 or 8 rows and 2, 3, 4 or 6 vectors 2 by 6 were the fastest for 4, 8 and 12
  // vectors (docs/results/2026-11-28-multigrid-h200.md).
  if (a.vectors == 1) launch(site::Index<1>{}, site::Index<1>{});
  else launch(site::Index<2>{}, site::Index<6>{});
  runtime::check_launch("coarse.operator");
}

template <class F>
void launch_coarse_dense(const coarse::DenseArguments<F>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  const std::uint64_t work = static_cast<std::uint64_t>(a.sites) * static_cast<std::uint64_t>(a.groups * coarse::lanes_of_components);
  if (work == 0) return;
  // Few rows: a thread has few vectors, so that there are more threads.
  const auto launch = [&](auto count) {
    dense_range<count>
        <<<dim3(blocks_of(work), static_cast<unsigned>((a.vectors + count - 1) / count)), threads, 0, stream>>>(a, idle, work);
  };
  if (a.vectors == 1) launch(site::Index<1>{});
  else launch(site::Index<2>{});
  runtime::check_launch("coarse.dense");
}

template <class F>
void launch_add_columns(const coarse::ColumnArguments<F>& a, std::int64_t sites, runtime::CudaStream stream) {
  const std::uint64_t work = static_cast<std::uint64_t>(sites) * static_cast<std::uint64_t>(2 * a.count);
  if (work == 0) return;
  add_columns_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.count)), threads, 0, stream>>>(a, work);
  runtime::check_launch("coarse.add_columns");
}

template <class F>
void launch_add_adjoint(const coarse::AdjointArguments<F>& a, runtime::CudaStream stream) {
  const std::uint64_t work = std::uint64_t{a.columns.list.count} * static_cast<std::uint64_t>(2 * a.columns.vectors);
  if (work == 0) return;
  add_adjoint_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.columns.vectors)), threads, 0, stream>>>(a, work);
  runtime::check_launch("coarse.add_adjoint");
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
  template void launch_coarse_dense(const coarse::DenseArguments<F>&, const std::int32_t*, runtime::CudaStream);       \
  template void launch_add_columns(const coarse::ColumnArguments<F>&, std::int64_t, runtime::CudaStream);              \
  template void launch_add_adjoint(const coarse::AdjointArguments<F>&, runtime::CudaStream);                           \
  template void launch_coarse_eliminate(F*, int, std::int64_t, runtime::CudaStream);                                   \
  template void launch_coarse_pack(const coarse::PackArguments<F>&, const std::int32_t*, runtime::CudaStream);
QUARKSTAR_COARSE_LAUNCHES(float)
QUARKSTAR_COARSE_LAUNCHES(double)

}  // namespace quarkstar::cuda
