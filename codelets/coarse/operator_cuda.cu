#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/bulk_copies.cuh"
#include "codelets/arch/cuda_words.cuh"
#include "codelets/arch/items.cuh"
#include "codelets/arch/lane.hpp"
#include "codelets/coarse/narrow_site.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/threads_cuda.cuh"
#include "runtime/gpu/cuda_launch.cuh"

#include <cuda_runtime.h>

#include <algorithm>

namespace quarkstar::cuda {
namespace {

using site::Lane;

constexpr unsigned threads = 128;

unsigned blocks_of(std::uint64_t work) { return static_cast<unsigned>((work + threads - 1) / threads); }

/// K numbers of a matrix as they are stored.
template <int K, class Loads, class F>
__device__ __forceinline__ void load_stored(F* words, const F* p) {
  load_chunk<K, Loads>(words, p);
}
template <int K, class Loads>
__device__ __forceinline__ void load_stored(float* words, const coarse::Binary16* p) {
  using Moved = std::conditional_t<K == 1, unsigned short, std::conditional_t<K == 2, unsigned, uint2>>;
  static_assert(sizeof(Moved) == K * sizeof(coarse::Binary16));
  const Moved moved = Loads::bits(reinterpret_cast<const Moved*>(p));
  coarse::Binary16 narrow[K];
  __builtin_memcpy(narrow, &moved, sizeof moved);
  site::unroll<K>([&](auto i) { words[i] = coarse::widened(narrow[i]); });
}

/// sum_t += columns of one group of components times these components of vector t, for Rows rows of a group that follow each other and
/// Count vectors. matrix: of the first of these rows and columns, the next column column_words behind it; vector t is at[t] words behind
/// `from`.
template <class Loads, int Rows, int Count, class M, class F, class At>
__device__ __forceinline__ void multiply_columns(const M* matrix, int column_words, const F* from, const At& at,
                                                 site::Complex<Lane<F>> (&sum)[Rows][Count]) {
  constexpr int lanes = coarse::lanes_of_components, chunk = 16 / static_cast<int>(sizeof(F)), rows = std::min(Rows, chunk);
  site::unroll<lanes / chunk>([&](auto part) {
    F re[Count][chunk], im[Count][chunk];
    site::unroll<Count>([&](auto t) {
      load_chunk<chunk, Loads>(re[t], from + at[t] + part * chunk);
      load_chunk<chunk, Loads>(im[t], from + at[t] + lanes + part * chunk);
    });
    site::unroll<chunk>([&](auto column) {
      F m_re[Rows], m_im[Rows];
      site::unroll<Rows / rows>([&](auto i) {
        load_stored<rows, Loads>(m_re + i * rows, matrix + i * rows);
        load_stored<rows, Loads>(m_im + i * rows, matrix + lanes + i * rows);
      });
      matrix += column_words;
      site::unroll<Rows>([&](auto row) {
        site::unroll<Count>([&](auto t) {
          sum[row][t] = site::multiply_add({{m_re[row]}, {m_im[row]}}, {{re[t][column]}, {im[t][column]}}, sum[row][t]);
        });
      });
    });
  });
}

/// Vectors of a group of components that follow each other.
struct VectorsInRow {
  __device__ constexpr int operator[](int t) const { return t * 2 * coarse::lanes_of_components; }
};

/// out_v = sum_v, or base_v -+ sum_v, for Rows rows of a group from `lane` on.
template <int Rows, int Count, class M, class F>
__device__ __forceinline__ void store_rows(const coarse::OperatorArguments<M>& a, std::size_t outer, int group, int lane,
                                           const VectorsOfThread<Count>& vectors, const site::Complex<Lane<F>> (&sum)[Rows][Count]) {
  constexpr int words = 2 * coarse::lanes_of_components;
  const std::size_t begin =
      (outer * static_cast<std::size_t>(a.groups) + static_cast<std::size_t>(group)) * static_cast<std::size_t>(a.vectors * words) +
      static_cast<std::size_t>(lane);
  site::unroll<Count>([&](auto t) {
    if (!vectors.wanted(t)) return;
    site::unroll<Rows>([&](auto row) {
      const std::size_t word = begin + static_cast<std::size_t>(vectors.number(t) * words + row);
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

/// What a block of threads of operator_range() has, and keeps in shared memory: `stages` times some columns of one block of its sites'
/// matrices and the components that they meet of its vectors, of which one is multiplied while the others come. A thread has Rows rows of a
/// group and Count vectors, a *part* of them: of a product of Rows by Count numbers only Rows + Count are read.
template <class M, int Rows, int Count>
struct Staging {
  using F = coarse::Computed<M>;
  static constexpr int stages = 3, most_sites = 4, lanes = coarse::lanes_of_components, tiles = lanes / Rows;
  static constexpr int vector_words = 2 * lanes;
  static constexpr int word_numbers = sizeof(F) / sizeof(M);  ///< of a matrix in a word
  static constexpr int padding = 8;                           ///< words, so that threads of sites which follow each other read other banks
  int groups, vectors;                                        ///< vectors: of the block of threads, of the last block fewer
  int column_groups, sites;                                   ///< groups of columns of a stage

  QUARKSTAR_HD constexpr int parts() const { return (vectors + Count - 1) / Count; }
  QUARKSTAR_HD constexpr int threads() const { return sites * groups * tiles * parts(); }
  /// Of a site the columns, [column][group of rows][re, im][row of the group], then the groups of columns, [vector][re, im][component].
  /// Words of F.
  QUARKSTAR_HD constexpr int column_numbers() const { return groups * vector_words; }
  QUARKSTAR_HD constexpr int group_words() const { return lanes * column_numbers() / word_numbers; }
  QUARKSTAR_HD constexpr int matrix_words() const { return column_groups * group_words(); }
  QUARKSTAR_HD constexpr int vectors_words() const { return parts() * Count * vector_words; }
  QUARKSTAR_HD constexpr int site_words() const { return matrix_words() + column_groups * vectors_words() + padding; }
  QUARKSTAR_HD constexpr int stage_words() const { return sites * site_words(); }
  constexpr std::size_t block_bytes() const { return sizeof(F) * static_cast<std::size_t>(stages * stage_words()); }
  /// What is copied at once: the columns of a site, or one group of components of its vectors.
  QUARKSTAR_HD constexpr int pieces() const { return sites * (1 + column_groups); }
};

/// coarse::multiply_site() with a thread per site, Rows rows of a group and Count vectors. Matrices are nearly all that is read, and are
/// read once for all vectors of a block of threads; blockIdx.y: which vectors. The same products and sums in the same order on every
/// device.
template <class M, int Rows, int Count, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks)
    operator_range(const __grid_constant__ coarse::OperatorArguments<M> a, const std::int32_t* idle, const Staging<M, Rows, Count> block) {
  using Block = Staging<M, Rows, Count>;
  using F = typename Block::F;
  using V = Lane<F>;
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ const F* sources[Block::most_sites][9];
  __shared__ Arrival arrived[Block::stages];
  F* staged = reinterpret_cast<F*>(dynamic);
  if (idles(idle)) return;
  // Threads of one group follow each other: site by site their rows are in other banks.
  const int thread = static_cast<int>(threadIdx.x), parts = block.parts(), part = thread % parts, tile = thread / parts % Block::tiles,
            mine = thread / (parts * Block::tiles) % block.sites, group = thread / (parts * Block::tiles * block.sites);
  const std::uint32_t first_place = blockIdx.x * static_cast<std::uint32_t>(block.sites),
                      place = first_place + static_cast<std::uint32_t>(mine);
  const auto in_list = [&](int site) { return min(first_place + static_cast<std::uint32_t>(site), a.list.count - 1); };
  for (int i = thread; i < 9 * block.sites; i += static_cast<int>(blockDim.x))
    sources[i / 9][i % 9] = coarse::find_source(a, in_list(i / 9), a.list.outer(a.tables, in_list(i / 9)), i % 9);
  const int first_vector = static_cast<int>(blockIdx.y) * block.vectors, count = min(block.vectors, a.vectors - first_vector);
  const VectorsOfThread<Count> vectors{first_vector + part * Count, first_vector + count - 1, a.left_out};
  const bool wanted = place < a.list.count && !vectors.none();

  // A piece is copied by the first of some threads; without bulk copies each of them copies a share.
  const int sharing = static_cast<int>(blockDim.x) / block.pieces(), piece = thread / sharing, copied = piece % block.sites,
            column_group = piece / block.sites - 1;  // of the vectors' components; -1: columns
  const std::size_t site =
      static_cast<std::size_t>(a.parity) * static_cast<std::size_t>(a.outer_sites) + a.list.outer(a.tables, in_list(copied));
  const auto block_words = static_cast<std::size_t>(a.groups * block.group_words());
  const F* const matrices = reinterpret_cast<const F*>(a.matrices) + site * coarse::blocks_per_site * block_words;
  const int offset = (column_group * a.vectors + first_vector) * Block::vector_words;
  const int all_words = column_group < 0 ? block.matrix_words() : count * Block::vector_words,
            next_words = column_group < 0 ? all_words : block.column_groups * a.vectors * Block::vector_words;
  constexpr int at_once = 16 / static_cast<int>(sizeof(F));
  const int share = Arrival::bulk ? all_words : (all_words / at_once + sharing - 1) / sharing * at_once,
            skipped = min(thread % sharing * share, all_words), words = piece < block.pieces() ? min(share, all_words - skipped) : 0;
  const int to_word =
      copied * block.site_words() + skipped + (column_group < 0 ? 0 : block.matrix_words() + column_group * block.vectors_words());
  const auto stage_bytes = static_cast<std::uint32_t>(block.sites * block.column_groups *
                                                      (block.group_words() + count * Block::vector_words) * static_cast<int>(sizeof(F)));
  const int steps_of_block = a.groups / block.column_groups, first = a.first_block * steps_of_block, last = a.end_block * steps_of_block;
  if (thread == 0)
    for (auto& barrier : arrived) barrier.init(blockDim.x);
  if (__syncthreads_or(wanted ? 1 : 0) == 0) return;

  const F* from = nullptr;
  int next_block = a.first_block, left_of_block = 0, to_slot = 0;
  const auto fetch = [&](int step) {
    Arrival& barrier = arrived[to_slot];
    F* to = staged + to_slot * block.stage_words() + to_word;
    to_slot = to_slot == Block::stages - 1 ? 0 : to_slot + 1;
    if (step >= last) return;
    if (words > 0) {
      if (left_of_block == 0) {
        from = skipped + (column_group < 0 ? matrices + static_cast<std::size_t>(next_block == 0 ? a.self_block : next_block) * block_words
                                           : sources[copied][next_block] + offset);
        left_of_block = steps_of_block;
        ++next_block;
      }
      --left_of_block;
      if (thread == 0) barrier.expect(stage_bytes);
      barrier.copy(to, from, static_cast<std::uint32_t>(words * static_cast<int>(sizeof(F))));
      from += next_words;
    }
    barrier.done();
  };
  site::Complex<V> sum[Rows][Count];
  site::unroll<Rows>([&](auto row) { site::unroll<Count>([&](auto t) { sum[row][t] = {V{0}, V{0}}; }); });
  for (int ahead = 0; ahead < Block::stages - 1; ++ahead) fetch(first + ahead);
  const F* of_site = staged + mine * block.site_words();
  const int row = group * Block::vector_words + tile * Rows;
  const F* of_part = staged + mine * block.site_words() + block.matrix_words() + part * Count * Block::vector_words;
  int slot = 0;
  std::uint32_t phase = 0;
  for (int step = first; step < last; ++step) {
    if (step > first) __syncthreads();  // all have multiplied what the next stage overwrites
    fetch(step + Block::stages - 1);
    arrived[slot].wait(phase);
    const M* rows = reinterpret_cast<const M*>(of_site + slot * block.stage_words()) + row;
    const F* x = of_part + slot * block.stage_words();
#pragma unroll 1
    for (int c = 0; c < block.column_groups; ++c) {
      multiply_columns<SharedLoads>(rows, block.column_numbers(), x, VectorsInRow{}, sum);
      rows += Block::lanes * block.column_numbers();
      x += block.vectors_words();
    }
    if (++slot == Block::stages) {
      slot = 0;
      phase ^= 1;
    }
  }
  if (wanted) store_rows(a, a.list.outer(a.tables, place), group, tile * Rows, vectors, sum);
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
  for (int site = 0; site < a.column_sites; ++site) {
    const F* from = a.column_vector(site);
    for (int column_group = 0; column_group < a.groups; ++column_group) {
      multiply_columns<CachedLoads>(matrix, words, from, at, sum);
      matrix += coarse::lanes_of_components * words;
      from += a.vectors * words;
    }
  }
  F* out = a.out + (outer * groups + static_cast<std::size_t>(group)) * static_cast<std::size_t>(a.vectors * words) + lane;
  site::unroll<Count>([&](auto t) {
    if (!vectors.wanted(t)) return;
    out[at[t]] = sum[0][t].re.v;
    out[at[t] + coarse::lanes_of_components] = sum[0][t].im.v;
  });
}

template <class F>
__global__ void __launch_bounds__(threads) set_columns_range(const __grid_constant__ coarse::ColumnArguments<F> a, std::uint64_t work) {
  const std::uint64_t id = thread_number(), rows = static_cast<std::uint64_t>(a.components);
  if (id < work) coarse::set_column_element(a, id / rows, static_cast<int>(id % rows), static_cast<int>(blockIdx.y));
}

template <class F>
__global__ void __launch_bounds__(threads) set_adjoint_range(const __grid_constant__ coarse::AdjointArguments<F> a, std::uint64_t work) {
  const std::uint64_t id = thread_number(), columns = static_cast<std::uint64_t>(a.columns.groups * coarse::lanes_of_components);
  if (id < work)
    coarse::set_adjoint_element(a, static_cast<std::uint32_t>(id / columns), static_cast<int>(id % columns), static_cast<int>(blockIdx.y));
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

template <class M, int Rows, int Count, int Threads, int Blocks>
void launch_operator(const coarse::OperatorArguments<M>& a, const std::int32_t* idle, int most_vectors, int most_sites,
                     std::size_t most_bytes, runtime::CudaStream stream) {
  using Block = Staging<M, Rows, Count>;
  const int batches = (a.vectors + most_vectors - 1) / most_vectors;
  Block block{a.groups, (a.vectors + batches - 1) / batches, 1, 1};
  if (most_sites == 1) {
    // Few sites: long stages, which wait seldom.
    const auto fits = [&](int column_groups) { return Block{block.groups, block.vectors, column_groups, 1}.block_bytes() <= most_bytes; };
    for (int column_groups = 2; column_groups <= a.groups; ++column_groups)
      if (a.groups % column_groups == 0 && fits(column_groups)) block.column_groups = column_groups;
  } else {
    // As few sites as fill two warps or more, a power of two of them, so that threads read other banks; and stages of two groups of
    // columns.
    const auto fits = [&] { return block.threads() <= Threads && block.block_bytes() <= most_bytes; };
    while (2 * block.sites <= most_sites && (block.threads() < 2 * arch::warp_threads || block.threads() % arch::warp_threads != 0)) {
      block.sites *= 2;
      if (fits()) continue;
      block.sites /= 2;
      break;
    }
    if (a.groups % 2 == 0) block.column_groups = 2;
    if (!fits()) block.column_groups = 1;
  }
  const auto sites = static_cast<std::uint32_t>(block.sites);
  runtime::launch_with_shared_memory(operator_range<M, Rows, Count, Threads, Blocks>, block.block_bytes(), false,
                                     dim3((a.list.count + sites - 1) / sites, static_cast<unsigned>(batches)),
                                     static_cast<unsigned>(block.threads()), stream, a, idle, block);
}

}  // namespace

// Rows and vectors of a thread, blocks and stages: docs/results/2026-11-30-h200-coarse-operator.md, 2026-12-01-multigrid.md.
template <class M>
void launch_coarse_operator(const coarse::OperatorArguments<M>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  using F = coarse::Computed<M>;
  if (a.list.count == 0) return;
  constexpr std::size_t many_bytes = 56 * 1024, few_bytes = 96 * 1024, fewer_bytes = 15 * 1024;
  constexpr int rows = sizeof(F) == 4 ? 4 : 2, most_parts = rows, tiles = coarse::lanes_of_components / rows;
  const auto parts = [&](int count) { return (a.vectors + count - 1) / count; };
  const bool sixes = 6 * parts(6) <= 4 * parts(4);
  // Where many rows and vectors a thread would leave a GPU too few threads, a thread has fewer.
  const bool few = a.list.count * static_cast<std::uint64_t>(a.groups * tiles * parts(sixes ? 6 : 4)) <= 24 * 1024;
  if (a.vectors == 1) launch_operator<M, 1, 1, 128, 4>(a, idle, 1, 1, few_bytes, stream);
  else if (a.vectors <= 4) {
    if constexpr (sizeof(M) < sizeof(F)) launch_operator<M, 2, 4, 128, 4>(a, idle, 4, 1, fewer_bytes, stream);
    else launch_operator<M, 2, 2, 256, 2>(a, idle, 4, 1, few_bytes, stream);
  } else if (few && sixes) launch_operator<M, 2, 3, 256, 2>(a, idle, 12, 1, few_bytes, stream);
  else if (few) launch_operator<M, 2, 2, 256, 2>(a, idle, 8, 1, few_bytes, stream);
  else if (sixes && a.vectors <= 12 && a.groups % 2 == 0)
    launch_operator<M, 2, 6, 128, sizeof(F) == 4 ? 4 : 3>(a, idle, 12, 4, many_bytes, stream);
  else if (sixes) launch_operator<M, rows, 6, 128, 3>(a, idle, 6 * most_parts, 4, many_bytes, stream);
  else launch_operator<M, rows, 4, 128, 4>(a, idle, 4 * most_parts, 4, many_bytes, stream);
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
void launch_set_columns(const coarse::ColumnArguments<F>& a, std::int64_t sites, runtime::CudaStream stream) {
  const std::uint64_t work = static_cast<std::uint64_t>(sites) * static_cast<std::uint64_t>(a.components);
  if (work == 0) return;
  set_columns_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.count)), threads, 0, stream>>>(a, work);
  runtime::check_launch("coarse.set_columns");
}

template <class F>
void launch_set_adjoint(const coarse::AdjointArguments<F>& a, runtime::CudaStream stream) {
  const std::uint64_t work =
      std::uint64_t{a.columns.list.count} * static_cast<std::uint64_t>(a.columns.groups * coarse::lanes_of_components);
  if (work == 0) return;
  set_adjoint_range<<<dim3(blocks_of(work), static_cast<unsigned>(a.columns.vectors)), threads, 0, stream>>>(a, work);
  runtime::check_launch("coarse.set_adjoint");
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
  template void launch_set_columns(const coarse::ColumnArguments<F>&, std::int64_t, runtime::CudaStream);              \
  template void launch_set_adjoint(const coarse::AdjointArguments<F>&, runtime::CudaStream);                           \
  template void launch_coarse_eliminate(F*, int, std::int64_t, runtime::CudaStream);                                   \
  template void launch_coarse_pack(const coarse::PackArguments<F>&, const std::int32_t*, runtime::CudaStream);
template void launch_coarse_operator(const coarse::OperatorArguments<coarse::Binary16>&, const std::int32_t*, runtime::CudaStream);
QUARKSTAR_COARSE_LAUNCHES(float)
QUARKSTAR_COARSE_LAUNCHES(double)

}  // namespace quarkstar::cuda

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::coarse::Narrow)
