#include "codelets/arch/cuda.cuh"
#include "codelets/field/projection_cuda.hpp"
#include "codelets/field/rounding.hpp"
#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_sums.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace quarkstar::cuda {
namespace {

using runtime::BinnedSum;

/// Reals of a vector that the tensor cores take at a time, and that a block has of b in shared memory: real and imaginary part of a number
/// together, with up to 32 lanes.
constexpr int half_step = 16, chunk = 64, halves = chunk / half_step;
constexpr int most_warps = blas::most_tiles, least_warps = 4;
/// Chunks of a block at most: in each sum of products of two digits three such products meet for each real.
constexpr int most_chunks = 0x7fffffff / (3 * 128 * 128) / chunk;
/// Half steps of a tile that a warp has asked for.
constexpr int stages = 4;
static_assert(halves % stages == 0 && blas::tile_vectors == 16);

/// Copies 16 bytes to shared memory, zeros where there are none; nobody waits. L2 takes the 256 bytes around them, which blocks will want.
__device__ __forceinline__ void start_copy(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
/// The copies that this thread has started since the last call are a group; waits for all but so many groups.
__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int But>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(But) : "memory");
}

/// x scale, rounded to nearest, plus 0x808080: bytes 0, 1 and 2 are its signed digits plus 128.
__device__ __forceinline__ unsigned rounded(double x, double scale) {
  return static_cast<unsigned>(__double2loint(fma(x, scale, 6755399441055744.0 + 8421504.0)));
}
/// The digits of four such numbers, of each place a word with four signed bytes.
__device__ __forceinline__ void digits_of(unsigned (&digit)[3], const unsigned (&x)[4]) {
  const unsigned low = __byte_perm(x[0], x[1], 0x5140), high = __byte_perm(x[2], x[3], 0x5140);
  digit[0] = __byte_perm(low, high, 0x5410) ^ 0x80808080u;
  digit[1] = __byte_perm(low, high, 0x7632) ^ 0x80808080u;
  digit[2] = __byte_perm(__byte_perm(x[0], x[1], 0x0062), __byte_perm(x[2], x[3], 0x0062), 0x5410) ^ 0x80808080u;
}

/// sum += a b, 16 rows, 8 columns, 32 products of signed bytes. Lane l has of a the rows l / 4 and l / 4 + 8, of b the column l / 4, of
/// both four bytes from 4 (l % 4) on of the first 16, then of the second; of the sums columns 2 (l % 4) and the next, of both rows.
__device__ __forceinline__ void multiply_bytes(int (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Sums of real products: a row is a vector of a tile, a column either the real part of products with a vector of b, whose numbers are then
/// (re, im), or the imaginary part, and they are (im, -re). A warp has a tile, all warps have the digits of the same numbers of b, which
/// they make together. Reals of an outer site lie side by side, and real and imaginary part of a number `partner` reals apart, a power of
/// two. The order of the reals is the same on both sides, and no sum depends on it. FixedReals: of a vector at an outer site; 0: as given.
template <int FixedReals, int ColumnTiles>
__global__ void __launch_bounds__(32 * most_warps, 1)
    rounded_products_range(const __grid_constant__ blas::RoundedProductsArguments a, int first_column, int columns, int given_reals,
                           int partner, std::int64_t outer_sites, long long* of_blocks) {
  const unsigned reals = FixedReals > 0 ? FixedReals : given_reals;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int digit_words = halves * ColumnTiles * 3 * 32;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, place = lane % 4;
  auto* const digits = reinterpret_cast<unsigned*>(memory);                 // [2][half step][column tile][digit][lane]
  auto* const right = reinterpret_cast<double*>(digits + 2 * digit_words);  // [2][column][chunk]
  double2* const left = reinterpret_cast<double2*>(right + 2 * columns * chunk) + warp * stages * 128 + lane;  // [stage][4][lane]
  // A block has every gridDim.x-th chunk, so that all blocks read pages of memory together (one H200: 5 % faster than a run of chunks).
  const std::uint64_t all = static_cast<std::uint64_t>(outer_sites) * reals;
  const auto end = static_cast<unsigned>((all + chunk - 1) / chunk), stride = gridDim.x;
  const int n = a.tiles.vectors;
  const bool works = warp < a.tiles.count;
  const double* const tile = a.tiles.fields[works ? warp : 0];
  // The rows of this thread's, where they are vectors.
  bool there[2];
  int rows[2];
  double scale[2];
  site::unroll<2>([&](auto r) {
    there[r] = works && row + 8 * r < a.tiles.vectors_of(warp);
    rows[r] = there[r] ? row + 8 * r : 0;
    scale[r] = there[r] ? a.tile_scales[warp * n + rows[r]] : 0;
  });
  // Real j of vector v of `of`.
  const auto real_at = [&](const double* field, std::uint64_t j, int of, int v) {
    return field + (j / reals * of + v) * reals + j % reals;
  };
  const auto fetch_left = [&](unsigned number, int half, int stage) {
    if (!works || number >= end) return;
    site::unroll<2>([&](auto i) {
      const std::uint64_t j = std::uint64_t{number} * chunk + half * half_step + 8 * i + 2 * place;
      site::unroll<2>([&](auto r) {
        start_copy(left + stage * 128 + (2 * r + i) * 32, real_at(tile, j < all ? j : 0, n, rows[r]), there[r] && j < all);
      });
    });
  };
  const auto fetch_right = [&](unsigned number, unsigned buffer) {
    if (number >= end) return;
    double* const to = right + buffer * columns * chunk;
    for (int i = static_cast<int>(threadIdx.x); i < columns * chunk / 2; i += static_cast<int>(blockDim.x)) {
      const int v = i / (chunk / 2), k = i % (chunk / 2) * 2;
      const std::uint64_t j = std::uint64_t{number} * chunk + k;
      start_copy(to + v * chunk + k, real_at(a.b, j < all ? j : 0, a.b_vectors, first_column + v), j < all);
    }
  };
  const auto round_right = [&](unsigned buffer) {
    const double* const from = right + buffer * columns * chunk;
    unsigned* const to = digits + buffer * digit_words;
    for (int i = static_cast<int>(threadIdx.x); i < halves * ColumnTiles * 32; i += static_cast<int>(blockDim.x)) {
      const int column = i / 32 % ColumnTiles * 8 + i % 32 / 4, v = column / 2, k = i / (ColumnTiles * 32) * half_step + i % 4 * 2;
      unsigned x[4] = {0x808080u, 0x808080u, 0x808080u, 0x808080u};
      if (v < columns) {
        const double of_vector = a.scales[first_column + v];
        site::unroll<4>([&](auto q) {
          const int own = k + q % 2 + q / 2 * 8;
          x[q] = column % 2 == 0 ? rounded(from[v * chunk + own], of_vector)
                                 : rounded(from[v * chunk + (own ^ partner)], (own & partner) != 0 ? -of_vector : of_vector);
        });
      }
      unsigned digit[3];
      digits_of(digit, x);
      site::unroll<3>([&](auto d) { to[(i / 32 * 3 + d) * 32 + i % 32] = digit[d]; });
    }
  };
  int sum[5][ColumnTiles][4] = {};  // of digits i and j in place i + j
  fetch_right(blockIdx.x, 0);
  end_group();
  site::unroll<stages>([&](auto s) {
    fetch_left(blockIdx.x, s, s);
    if constexpr (s == 0) fetch_right(blockIdx.x + stride, 1);
    end_group();
  });
  wait_for_groups<stages>();
  __syncthreads();
  round_right(0);
  unsigned buffer = 0;
  for (unsigned number = blockIdx.x; number < end; number += stride, buffer ^= 1) {
    wait_for_groups<stages - 1>();
    __syncthreads();
    const unsigned* const b = digits + buffer * digit_words + lane;
    site::unroll<halves / 2>([&](auto step) {
      unsigned of_left[3][4];
      site::unroll<2>([&](auto h) {
        constexpr int half = 2 * step + h;
        wait_for_groups<stages - 1>();
        site::unroll<2>([&](auto r) {
          const double2 x = left[half % stages * 128 + 2 * r * 32], y = left[half % stages * 128 + (2 * r + 1) * 32];
          const unsigned whole[4] = {rounded(x.x, scale[r]), rounded(x.y, scale[r]), rounded(y.x, scale[r]), rounded(y.y, scale[r])};
          unsigned digit[3];
          digits_of(digit, whole);
          site::unroll<3>([&](auto d) { of_left[d][2 * h + r] = digit[d]; });
        });
        fetch_left(number + (half + stages) / halves * stride, (half + stages) % halves, half % stages);
        if constexpr (half == 0) fetch_right(number + 2 * stride, buffer);
        end_group();
      });
      if (!works) return;
      site::unroll<ColumnTiles>([&](auto c) {
        unsigned b0[3], b1[3];
        site::unroll<3>([&](auto d) {
          b0[d] = b[((2 * step * ColumnTiles + c) * 3 + d) * 32];
          b1[d] = b[(((2 * step + 1) * ColumnTiles + c) * 3 + d) * 32];
        });
        site::unroll<3>([&](auto i) { site::unroll<3>([&](auto j) { multiply_bytes(sum[i + j][c], of_left[i], b0[j], b1[j]); }); });
      });
    });
    if (number + stride < end) round_right(buffer ^ 1);
  }
  if (!works) return;
  auto* const out =
      reinterpret_cast<longlong2*>(of_blocks) + (std::int64_t{blockIdx.x} * a.tiles.count + warp) * blas::tile_vectors * columns;
  site::unroll<ColumnTiles>([&](auto c) {
    site::unroll<2>([&](auto r) {
      const int v = 4 * c + place;
      const auto total = [&](auto i) {
        long long of_digits = 0;
        site::unroll<5>([&](auto d) { of_digits += static_cast<long long>(sum[d][c][2 * r + i]) << (8 * d); });
        return of_digits;
      };
      if (v < columns) out[(row + 8 * r) * columns + v] = {total(site::Index<0>{}), total(site::Index<1>{})};
    });
  });
}

/// Sums of those of blocks: 32 sums of a block of threads, each gathered by rows_of_gathering of them. They replace those of `sums`, or
/// are added.
constexpr int rows_of_gathering = 8;
__global__ void __launch_bounds__(32 * rows_of_gathering)
    gather_sums(BinnedSum* sums, const long long* of_blocks, int blocks, const __grid_constant__ blas::Tiles tiles, int first_column,
                int columns, int b_vectors, bool adds) {
  __shared__ long long parts[2][rows_of_gathering][32];
  const int count = 2 * tiles.count * blas::tile_vectors * columns, s = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  long long high = 0, low = 0;
  if (s < count) {
#pragma unroll(8)
    for (int b = static_cast<int>(threadIdx.y); b < blocks; b += rows_of_gathering) {
      const long long x = of_blocks[std::int64_t{b} * count + s];
      high += x >> 32;
      low += x & 0xffffffff;
    }
  }
  parts[0][threadIdx.y][threadIdx.x] = high;
  parts[1][threadIdx.y][threadIdx.x] = low;
  __syncthreads();
  const int v = s / 2 % columns, vector = s / 2 / columns % blas::tile_vectors, tile = s / 2 / columns / blas::tile_vectors;
  if (threadIdx.y != 0 || s >= count || vector >= tiles.vectors_of(tile)) return;
  for (int r = 1; r < rows_of_gathering; ++r) {
    high += parts[0][r][threadIdx.x];
    low += parts[1][r][threadIdx.x];
  }
  BinnedSum& to = sums[2 * ((tile * tiles.vectors + vector) * b_vectors + first_column + v) + s % 2];
  BinnedSum sum = adds ? to : BinnedSum::zero();
  blas::add_whole(sum, 0);
  sum.limb[1] += high;
  sum.limb[2] += low;
  to = sum;
}

__global__ void __launch_bounds__(32) scales_kernel(double* scales, const __grid_constant__ blas::PartialsOfTask partials, int n) {
  const int v = static_cast<int>(threadIdx.x);
  if (v >= n) return;
  const auto value = [&](int s) { return blas::value_of_sum(s, partials.count, [&](int p) { return partials.of[p]; }); };
  scales[v] = blas::scale_of_rounding(value(v), value(n + v));
}

__global__ void __launch_bounds__(128)
    coefficients_kernel(const __grid_constant__ blas::CoefficientsArguments a, const __grid_constant__ blas::PartialsOfTask partials) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= a.modes * a.vectors) return;
  const auto value = [&](int s) { return blas::value_of_sum(s, partials.count, [&](int p) { return partials.of[p]; }); };
  a.coefficients[i] = blas::coefficient_of(a, i / a.vectors, i % a.vectors, value);
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}

/// Reals of a number are `re` and `partner` reals behind it, of number q of the lanes and components of an outer site.
template <bool Chunked>
__device__ __forceinline__ unsigned place_of_re(unsigned q, unsigned lanes) {
  return Chunked ? 2 * q : q / lanes * 2 * lanes + q % lanes;
}

/// sum += a b, 8 rows, 8 columns, four products in the order of multiply-adds, each rounded. Lane l has row l / 4 of a and column l / 4 of
/// b, of both number l % 4; of the sums row l / 4, columns 2 (l % 4) and the next.
__device__ __forceinline__ void multiply_doubles(double (&sum)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(a), "d"(b));
}

constexpr int combine_threads = 512;
/// Steps of a tile with so many vectors: each takes two.
QUARKSTAR_HD int steps_of(int vectors) { return (vectors + 1) / 2; }

/// Rows are complex numbers of a vector, columns real and imaginary parts of results, and what is summed over are real and imaginary parts
/// of the tiles' vectors. A warp has 16 rows. All coefficients of some columns are in shared memory, as lanes take them.
template <int Components, bool Chunked, int ColumnTiles>
__global__ void __launch_bounds__(combine_threads, ColumnTiles < 4 ? 2 : 1)
    combine_range(const __grid_constant__ blas::CombineArguments a, int first_column, int columns, std::int64_t outer_sites) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const factors = reinterpret_cast<double*>(memory);  // [step][column tile][lane]
  const int steps = steps_of(a.tiles.vectors), lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, place = lane % 4;
#pragma unroll(8)
  for (int i = static_cast<int>(threadIdx.x); i < a.tiles.count * steps * ColumnTiles * 32; i += combine_threads) {
    const int column = i / 32 % ColumnTiles * 8 + i % 32 / 4, v = column / 2, step = i / 32 / ColumnTiles, tile = step / steps,
              vector = step % steps * 2 + i % 4 / 2;
    double factor = 0;
    if (v < columns && vector < a.tiles.vectors_of(tile)) {
      const double* const c = &a.coefficients[(tile * a.tiles.vectors + vector) * a.vectors + first_column + v].re;
      factor = c[column % 2 == i % 2 ? 0 : 1];  // of (re, im) and (im, re)
      if (column % 2 == 0 && i % 2 == 1) factor = -factor;
    }
    factors[i] = factor;
  }
  __syncthreads();
  const auto lanes = static_cast<unsigned>(a.lanes);
  const std::int64_t reals = std::int64_t{2} * Components * a.lanes, numbers = outer_sites * Components * a.lanes;
  const int partner = Chunked ? 1 : a.lanes;
  constexpr int warps = combine_threads / 32, rows_of_warp = 16;
  for (std::int64_t first = (std::int64_t{blockIdx.x} * warps + threadIdx.x / 32) * rows_of_warp; first < numbers;
       first += std::int64_t{gridDim.x} * warps * rows_of_warp) {
    double sum[2][ColumnTiles][2];
    std::int64_t outer[2];
    unsigned re[2];
    const double* at[2];  // of the first tile's field, from its beginning
    site::unroll<2>([&](auto r) {
      const auto number = static_cast<std::uint64_t>(min(first + 8 * r + row, numbers - 1));
      outer[r] = static_cast<std::int64_t>(number / (Components * lanes));
      re[r] = place_of_re<Chunked>(static_cast<unsigned>(number % (Components * lanes)), lanes);
    });
    const auto result_at = [&](auto* field, int r, int v) { return field + (outer[r] * a.vectors + first_column + v) * reals + re[r]; };
    site::unroll<2>([&](auto r) {
      site::unroll<ColumnTiles>([&](auto c) {
        const int v = 4 * c + place;
        const bool begins = a.base != nullptr && v < columns;
        sum[r][c][0] = begins ? *result_at(a.base, r, v) : 0;
        sum[r][c][1] = begins ? result_at(a.base, r, v)[partner] : 0;
      });
    });
    const double* factor = factors + lane;
    for (int tile = 0; tile < a.tiles.count; ++tile) {
      const int vectors = a.tiles.vectors_of(tile);
      site::unroll<2>(
          [&](auto r) { at[r] = a.tiles.fields[tile] + (outer[r] * a.tiles.vectors + place / 2) * reals + re[r] + place % 2 * partner; });
      const auto add = [&](int step, const std::int64_t back) {
        double z[2];
        site::unroll<2>([&](auto r) { z[r] = __ldca(at[r] + 2 * step * reals - back); });
        site::unroll<ColumnTiles>([&](auto c) {
          const double f = factor[(step * ColumnTiles + c) * 32];
          site::unroll<2>([&](auto r) { multiply_doubles(sum[r][c], z[r], f); });
        });
      };
      if (vectors == blas::tile_vectors) {
        site::unroll<blas::tile_vectors / 2>([&](auto step) { add(step, 0); });
      } else {
#pragma unroll(4)
        for (int step = 0; step < vectors / 2; ++step) add(step, 0);
        if (vectors % 2 == 1) add(vectors / 2, place / 2 * reals);  // beside the last one nothing, with factors 0
      }
      factor += steps * ColumnTiles * 32;
    }
    site::unroll<2>([&](auto r) {
      if (first + 8 * r + row >= numbers) return;
      site::unroll<ColumnTiles>([&](auto c) {
        const int v = 4 * c + place;
        if (v >= columns) return;
        *result_at(a.out, r, v) = sum[r][c][0];
        result_at(a.out, r, v)[partner] = sum[r][c][1];
      });
    });
  }
}

/// body(integral constant of tiles of 8 columns, first vector, vectors) for n vectors, at most most_columns at a time.
constexpr int most_columns = 16;
template <class Body>
void for_columns(int n, Body&& body) {
  const int parts = (n + most_columns - 1) / most_columns;
  for (int p = 0; p < parts; ++p) {
    const int first = n * p / parts, count = n * (p + 1) / parts - first;
    if (count <= 4) body(site::Index<1>{}, first, count);
    else if (count <= 8) body(site::Index<2>{}, first, count);
    else if (count <= 12) body(site::Index<3>{}, first, count);
    else body(site::Index<4>{}, first, count);
  }
}

}  // namespace

template <int Components, bool Chunked>
void launch_rounded_products(const blas::RoundedProductsArguments& a, std::int64_t outer_sites, BinnedSum* sums,
                             runtime::CudaStream stream) {
  constexpr int slot = 2, usual_reals = 2 * Components * full_lanes<double>;
  const int reals = 2 * Components * a.lanes, warps = std::max(a.tiles.count, least_warps),
            room = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  for_columns(a.b_vectors, [&](auto column_tiles, int first_column, int columns) {
    constexpr int n = column_tiles, reserved = 1 << 10;  // bytes that a block takes besides
    const int bytes = 2 * halves * n * 3 * 32 * static_cast<int>(sizeof(unsigned)) +
                      2 * columns * chunk * static_cast<int>(sizeof(double)) + warps * stages * 128 * static_cast<int>(sizeof(double2));
    const int most_blocks = device_attribute(cudaDevAttrMultiProcessorCount) * std::clamp(room / (bytes + reserved), 1, most_warps / warps);
    // 8.7 MB for each lane of an H200, as much for any fields: what the runtime leaves of a GPU's memory has room for it.
    auto* const of_blocks = static_cast<long long*>(
        runtime::worker_memory(slot, std::size_t{2} * static_cast<std::size_t>(device_attribute(cudaDevAttrMultiProcessorCount)) *
                                         blas::most_tiles * blas::tile_vectors * most_columns * sizeof(long long)));
    // Sites of a launch: so many that no sum leaves its range.
    const std::int64_t most_sites = std::int64_t{most_blocks} * (most_chunks - 1) * chunk / reals;
    std::int64_t first = 0;
    do {
      const std::int64_t sites = std::min(most_sites, outer_sites - first), chunks = (sites * reals + chunk - 1) / chunk;
      const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(chunks, 1, most_blocks));
      blas::RoundedProductsArguments part = a;
      for (int i = 0; i < a.tiles.count; ++i) part.tiles.fields[i] += first * a.tiles.vectors * reals;
      part.b += first * a.b_vectors * reals;
      const auto launch = [&](auto* kernel) {
        runtime::launch_with_shared_memory(kernel, static_cast<std::size_t>(bytes), false, blocks, static_cast<unsigned>(32 * warps),
                                           stream, part, first_column, columns, reals, Chunked ? 1 : a.lanes, sites, of_blocks);
      };
      if (reals == usual_reals) launch(rounded_products_range<usual_reals, n>);
      else launch(rounded_products_range<0, n>);
      const int count = 2 * a.tiles.count * blas::tile_vectors * columns;
      gather_sums<<<static_cast<unsigned>((count + 31) / 32), dim3(32, rows_of_gathering), 0, stream>>>(
          sums, of_blocks, static_cast<int>(blocks), part.tiles, first_column, columns, a.b_vectors, first > 0);
      first += sites;
    } while (first < outer_sites);
  });
  runtime::check_launch("blas.rounded_products");
}

template <int Components, bool Chunked>
void launch_combine(const blas::CombineArguments& a, std::int64_t outer_sites, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  constexpr int rows_of_block = combine_threads / 2;
  const std::int64_t numbers = outer_sites * Components * a.lanes, wanted = (numbers + rows_of_block - 1) / rows_of_block;
  for_columns(a.vectors, [&](auto column_tiles, int first_column, int columns) {
    constexpr int n = column_tiles, resident = n < 4 ? 2 : 1;
    const std::size_t bytes = static_cast<std::size_t>(a.tiles.count * steps_of(a.tiles.vectors)) * n * 32 * sizeof(double);
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>(wanted, std::int64_t{resident} * device_attribute(cudaDevAttrMultiProcessorCount)));
    runtime::launch_with_shared_memory(combine_range<Components, Chunked, n>, bytes, false, blocks, combine_threads, stream, a,
                                       first_column, columns, outer_sites);
  });
  runtime::check_launch("blas.combine");
}

void launch_scales(double* scales, const blas::PartialsOfTask& partials, int n, runtime::CudaStream stream) {
  runtime::flush_sums(stream);
  scales_kernel<<<1, 32, 0, stream>>>(scales, partials, n);
  runtime::check_launch("blas.scales");
}

void launch_coefficients(const blas::CoefficientsArguments& a, const blas::PartialsOfTask& partials, runtime::CudaStream stream) {
  constexpr int threads = 128;
  coefficients_kernel<<<static_cast<unsigned>((a.modes * a.vectors + threads - 1) / threads), threads, 0, stream>>>(a, partials);
  runtime::check_launch("blas.coefficients");
}

#define QUARKSTAR_PROJECTION_LAUNCHES(components, chunked)                                                                             \
  template void launch_rounded_products<components, chunked>(const blas::RoundedProductsArguments&, std::int64_t, runtime::BinnedSum*, \
                                                             runtime::CudaStream);                                                     \
  template void launch_combine<components, chunked>(const blas::CombineArguments&, std::int64_t, runtime::CudaStream);
QUARKSTAR_PROJECTION_LAUNCHES(3, false)
QUARKSTAR_PROJECTION_LAUNCHES(12, false)
QUARKSTAR_PROJECTION_LAUNCHES(12, true)

}  // namespace quarkstar::cuda
