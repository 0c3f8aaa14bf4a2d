#pragma once
// What the CUDA drivers of products with matrices in the fifth dimension share.
#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/domain_wall/slice_site.hpp"
#include "codelets/arch/cuda_words.cuh"

#include <algorithm>
#include <type_traits>

namespace quarkstar::cuda {

/// The words of a spinor in registers: of one lane of the site at p, which begins with its first lane.
template <class F, bool Chunked>
struct SpinorOfSlice {
  F words[spinor_words<F>];
  __device__ __forceinline__ SpinorOfSlice(const F* p, int lanes, int lane) {
    constexpr int head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(spinor_words<F> - head) : 1;
    load_words<chunk, head, CachedLoads>(words, p, lanes, lane);
  }
  __device__ __forceinline__ site::Complex<Lane<Real<F>>> component(int c) const {
    return site::SiteReader<F, Lane<Real<F>>>(words, 1).component(c);
  }
};

/// Stores z as one lane of the site at p.
template <class F, bool Chunked>
__device__ __forceinline__ void store_slice(F* p, int lanes, int lane, const site::Complex<Lane<Real<F>>> (&z)[domain_wall::components]) {
  constexpr int head = site::head_words<F>, chunk = Chunked ? site::chunk_words<F>(spinor_words<F> - head) : 1;
  F words[spinor_words<F>];
  site::write_site<F>(words, 1, z);
  store_words<chunk, head>(p, lanes, lane, words);
}

/// Complex numbers in shared memory, as many as 16 bytes hold. A row of them has a number of each lane beside each other.
template <class F>
using SharedNumber = std::conditional_t<sizeof(Real<F>) == 8, double2, float4>;
template <class F>
inline constexpr int complex_of_number = sizeof(Real<F>) == 8 ? 1 : 2;
template <class F, int Count>
inline constexpr int numbers_for = (Count + complex_of_number<F> - 1) / complex_of_number<F>;

/// A row from a thread's lane on.
template <class F>
struct SharedRow {
  const SharedNumber<F>* p;
  int lanes;
  __device__ __forceinline__ site::Complex<Lane<Real<F>>> component(int i) const {
    const SharedNumber<F> x = p[i / complex_of_number<F> * lanes];
    if constexpr (complex_of_number<F> == 2)
      if (i % 2 == 1) return {{x.z}, {x.w}};
    return {{x.x}, {x.y}};
  }
};

/// Puts Count numbers there; of(i): number i.
template <class F, int Count, class Of>
__device__ __forceinline__ void store_shared_row(SharedNumber<F>* p, int lanes, Of&& of) {
  site::unroll<numbers_for<F, Count>>([&](auto i) {
    constexpr int first = i * complex_of_number<F>;
    const auto one = of(site::Index<first>{});
    if constexpr (complex_of_number<F> == 1) {
      p[i * lanes] = {one.re.v, one.im.v};
    } else {
      const auto two = of(site::Index<std::min(first + 1, Count - 1)>{});
      p[i * lanes] = {one.re.v, one.im.v, two.re.v, two.im.v};
    }
  });
}

/// The slices of a right-hand side at the lanes of a site, in shared memory: [slice][number][lane], from a thread's lane on.
template <class F>
struct SliceTile {
  using Spinor = site::Complex<Lane<Real<F>>>[domain_wall::components];
  static constexpr int numbers = numbers_for<F, domain_wall::components>;
  SharedNumber<F>* p;
  int lanes;
  /// Where a slice begins, or its components of chirality -.
  __device__ __forceinline__ SharedNumber<F>* at(int slice, int chirality = 0) const {
    return p + (slice * numbers + chirality * numbers_for<F, domain_wall::of_chirality>)*lanes;
  }
  __device__ __forceinline__ SharedRow<F> operator()(int slice) const { return {at(slice), lanes}; }
  __device__ __forceinline__ void store(int slice, const Spinor& z) const {
    store_shared_row<F, domain_wall::components>(at(slice), lanes, [&](auto c) { return z[c]; });
  }
  __device__ __forceinline__ void load(int slice, Spinor& z) const {
    const SharedRow<F> row = (*this)(slice);
    site::unroll<domain_wall::components>([&](auto c) { z[c] = row.component(c); });
  }
};

/// out_s = sum over s' T_ss' in_s', T dense, by all threads of a block, threadIdx.y counting those of a lane, after a barrier behind what
/// wrote `in`; it ends with one. Each thread does two rows of one chirality at a time: what limits it is how much can be read from shared
/// memory. in_place: out is in; then blockDim.y is at least the number of slices, an even one, so that all is read before anything is
/// written.
template <class F>
__device__ __forceinline__ void multiply_slices(const SliceTile<F>& out, const SliceTile<F>& in, bool in_place,
                                                const domain_wall::Product<F>& product, int vector, int slices) {
  using T = Real<F>;
  using V = Lane<T>;
  using Two = std::conditional_t<sizeof(T) == 8, double2, float2>;
  constexpr int of_chirality = domain_wall::of_chirality, rows_of_thread = 2;
  const int rows = domain_wall::padded_rows(slices), pairs = (slices + rows_of_thread - 1) / rows_of_thread;
#pragma unroll 1
  for (int first = 0; first < 2 * pairs; first += static_cast<int>(blockDim.y)) {
    const int pair = first + static_cast<int>(threadIdx.y), chirality = pair / pairs, s = pair % pairs * rows_of_thread;
    site::Complex<V> z[rows_of_thread][of_chirality];
    if (chirality < 2) {
      const T* matrix = product.numbers + (2 * vector + chirality) * slices * rows + s;
      const auto add_column = [&](int from, auto is_first) {
        const auto of_rows = __ldg(reinterpret_cast<const Two*>(matrix + from * rows));
        const V factors[rows_of_thread] = {{product.factor * of_rows.x}, {product.factor * of_rows.y}};
        const SharedRow<F> row{in.at(from, chirality), in.lanes};
        site::unroll<of_chirality>([&](auto c) {
          const site::Complex<V> value = row.component(c);
          site::unroll<rows_of_thread>([&](auto k) {
            if constexpr (is_first) z[k][c] = {factors[k] * value.re, factors[k] * value.im};
            else z[k][c] = {fma(factors[k], value.re, z[k][c].re), fma(factors[k], value.im, z[k][c].im)};
          });
        });
      };
      add_column(0, std::true_type{});
#pragma unroll 2
      for (int from = 1; from < slices; ++from) add_column(from, std::false_type{});
    }
    if (in_place) __syncthreads();
    if (chirality < 2)
      site::unroll<rows_of_thread>([&](auto k) {
        if (s + k < slices) store_shared_row<F, of_chirality>(out.at(s + k, chirality), out.lanes, [&](auto c) { return z[k][c]; });
      });
  }
  __syncthreads();
}

}  // namespace quarkstar::cuda
