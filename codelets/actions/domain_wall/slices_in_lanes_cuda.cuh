#pragma once
// Products with matrices in the fifth dimension where the lanes hold the slices: a block has whole sites of a right-hand side, thread
// site * L + slice, and the threads of a site meet in shared memory.
#include "codelets/actions/domain_wall/slice_cuda.cuh"
#include "codelets/arch/bulk_copies.cuh"

#include <numeric>

namespace quarkstar::cuda {

/// The slices of Sites sites in shared memory, [number][site][slice].
template <class F, int L, int Sites>
class SlicesOfSites {
 public:
  using Spinor = site::Complex<Lane<Real<F>>>[domain_wall::components];
  static constexpr int threads = L * Sites;

 private:
  static constexpr int numbers = numbers_for<F, domain_wall::components>;
  /// Threads of the fewest sites that fill whole warps: these wait for each other alone.
  static constexpr int together = std::lcm(L, arch::warp_threads);
  static_assert(threads % together == 0);

 public:
  static constexpr std::size_t bytes = sizeof(SharedNumber<F>) * numbers * threads, bytes_of_matrix = sizeof(Real<F>) * 2 * L * L;

  __device__ __forceinline__ explicit SlicesOfSites(unsigned char* memory)
      : slices_(reinterpret_cast<SharedNumber<F>*>(memory) + static_cast<int>(threadIdx.x) / L * L),
        slice_(static_cast<int>(threadIdx.x) % L) {}

  /// Starts to bring the own slice of a field, whose site begins at p; wait_for_own_copies() before meet().
  __device__ __forceinline__ void bring(const F* p) const {
    site::unroll<numbers>([&](auto k) {
      start_copy(reinterpret_cast<uint4*>(slices_ + k * threads + slice_), reinterpret_cast<const uint4*>(p) + k * L + slice_);
    });
  }
  /// Own slice, for the threads of the site behind meet().
  __device__ __forceinline__ void store(const Spinor& z) const {
    store_shared_row<F, domain_wall::components>(slices_ + slice_, threads, [&](auto c) { return z[c]; });
  }
  __device__ __forceinline__ void meet() const {
    if constexpr (together == arch::warp_threads) __syncwarp();
    else asm volatile("bar.sync %0, %1;" ::"r"(1 + static_cast<int>(threadIdx.x) / together), "n"(together) : "memory");
  }
  /// Reads a slice of the site.
  __device__ __forceinline__ SharedRow<F> operator()(int slice) const { return {slices_ + slice, threads}; }

  /// Brings the matrix of a dense product, [chirality][column][row]; all threads, with a barrier before multiply().
  static __device__ __forceinline__ void bring_matrix(Real<F>* matrix, const domain_wall::Product<F>& product, int vector) {
    constexpr int rows = domain_wall::padded_rows(L);
    const Real<F>* numbers_of_vector = product.numbers + 2 * vector * L * rows;
    for (int k = static_cast<int>(threadIdx.x); k < 2 * L * L; k += threads)
      matrix[k] = product.factor * numbers_of_vector[k / L * rows + k % L];
  }
  /// z = own row of the matrix times what the threads of the site have stored. One row a thread: two of one chirality read half as much,
  /// but their way back to the threads that end a slice costs more (one H200, 12 slices: 6 % of a hop; four rows 20 %).
  __device__ __forceinline__ void multiply(Spinor& z, const Real<F>* matrix) const {
    using V = Lane<Real<F>>;
    const auto add_column = [&](int from, auto is_first) {
      const V factors[2] = {{matrix[from * L + slice_]}, {matrix[(L + from) * L + slice_]}};
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
  int slice_;
};

}  // namespace quarkstar::cuda
