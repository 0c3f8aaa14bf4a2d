#pragma once
// Products with matrices in the fifth dimension where the lanes hold the slices: a block has whole sites of a right-hand side, thread
// site * L + slice, and the threads of a site meet in shared memory.
#include "codelets/actions/domain_wall/slice_cuda.cuh"

#include <numeric>

namespace quarkstar::cuda {

/// The slices of Sites sites in shared memory, [number][site][slice] with a gap behind each site, so that threads of several sites that
/// read the same slice find it in different banks; behind them a dense matrix, [chirality][column][row].
template <class F, int L, int Sites>
class SlicesOfSites {
 public:
  using Spinor = site::Complex<Lane<Real<F>>>[domain_wall::components];
  static constexpr int threads = L * Sites;

 private:
  static constexpr int numbers = numbers_for<F, domain_wall::components>, stride = Sites * (L + 1);
  /// Threads of the fewest sites that fill whole warps: these wait for each other alone.
  static constexpr int together = std::lcm(L, arch::warp_threads);
  static_assert(threads % together == 0);

 public:
  static constexpr std::size_t bytes_of_tile = sizeof(SharedNumber<F>) * numbers * stride,
                               bytes = bytes_of_tile + sizeof(Real<F>) * 2 * L * L;

  __device__ __forceinline__ explicit SlicesOfSites(unsigned char* memory)
      : slices_(reinterpret_cast<SharedNumber<F>*>(memory) + static_cast<int>(threadIdx.x) / L * (L + 1)),
        matrix_(reinterpret_cast<Real<F>*>(memory + bytes_of_tile)),
        slice_(static_cast<int>(threadIdx.x) % L) {}

  /// Brings the matrix of a dense product; all threads, with a barrier before multiply().
  __device__ __forceinline__ void bring_matrix(const domain_wall::Product<F>& product, int vector) const {
    constexpr int rows = domain_wall::padded_rows(L);
    const Real<F>* numbers_of_vector = product.numbers + 2 * vector * L * rows;
    for (int k = static_cast<int>(threadIdx.x); k < 2 * L * L; k += threads)
      matrix_[k] = product.factor * numbers_of_vector[k / L * rows + k % L];
  }

  /// Own slice, for the threads of the site behind meet().
  __device__ __forceinline__ void store(const Spinor& z) const {
    store_shared_row<F, domain_wall::components>(slices_ + slice_, stride, [&](auto c) { return z[c]; });
  }
  __device__ __forceinline__ void meet() const {
    if constexpr (together == arch::warp_threads) __syncwarp();
    else asm volatile("bar.sync %0, %1;" ::"r"(1 + static_cast<int>(threadIdx.x) / together), "n"(together) : "memory");
  }
  /// Reads a slice of the site.
  __device__ __forceinline__ SharedRow<F> operator()(int slice) const { return {slices_ + slice, stride}; }

  /// z = own row of the matrix times what the threads of the site have stored. One row a thread: two of one chirality read half as much,
  /// but their way back to the threads that end a slice costs more (one H200, 12 slices: 6 % of a hop; four rows 20 %).
  __device__ __forceinline__ void multiply(Spinor& z) const {
    using V = Lane<Real<F>>;
    const auto add_column = [&](int from, auto is_first) {
      const V factors[2] = {{matrix_[from * L + slice_]}, {matrix_[(L + from) * L + slice_]}};
      const SharedRow<F> row = (*this)(from);
      site::unroll<domain_wall::components>([&](auto c) {
        const V factor = factors[c / domain_wall::of_chirality];
        const site::Complex<V> value = row.component(c);
        if constexpr (is_first) z[c] = {factor * value.re, factor * value.im};
        else z[c] = {fma(factor, value.re, z[c].re), fma(factor, value.im, z[c].im)};
      });
    };
    add_column(0, std::true_type{});
#pragma unroll 2
    for (int from = 1; from < L; ++from) add_column(from, std::false_type{});
  }

 private:
  SharedNumber<F>* slices_;  ///< of the thread's site
  Real<F>* matrix_;
  int slice_;
};

}  // namespace quarkstar::cuda
