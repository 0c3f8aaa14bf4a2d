#pragma once
// The even-odd system of a small coarse operator, solved by its inverse.
#include "codelets/coarse/coarse_operator.hpp"
#include "runtime/cut/all_gather.hpp"
#include "runtime/system/team.hpp"

#include <complex>
#include <cstddef>
#include <vector>

namespace quarkstar::coarse {

/// In place: the inverse of n x n numbers, columns as they lie, by Gauss-Jordan elimination with exchanges of columns, on the threads of a
/// team. No bit depends on the threads: every element gets its products one after another. Without an inverse there will be no numbers.
void invert(std::vector<std::complex<double>>& matrix, std::size_t n, const runtime::Team& team);

/// (1 - H H)^-1 of CoarseOperator::apply() as one dense matrix, a row for each component of each odd site: 2 rows^2 reals.
class DenseInverse {
 public:
  /// Whether a lattice is small enough: at most most_rows rows. By the lattice alone, so that no bit depends on its cut.
  static constexpr int most_rows = 1536;
  static bool fits(const Coord& lattice, int components);
  /// Reals of the rows of a block that has so many sites of all.
  static double reals(double sites, double all_sites, int components) {
    return 2 * (sites / 2 * components) * (all_sites / 2 * components);
  }

  /// matrices: eliminated, and of a lattice that fits. Applies the operator to unit vectors, and inverts on the host of every rank in
  /// double precision: 8 rows^3 flop by Gauss-Jordan elimination with exchanges of rows, on the cores of a worker; every element gets its
  /// products one after another, so bits depend on nothing. Without an inverse is_finite() is false. Waits.
  explicit DenseInverse(const CoarseMatrices& matrices);

  /// Of host memory on every rank while it is made: the matrix, and what it is eliminated in, or between ranks what MPI takes for their
  /// sum.
  static double host_bytes(const Coord& lattice, int components) {
    const double rows = static_cast<double>(volume(lattice)) / 2 * components;
    return 2 * 2 * sizeof(double) * rows * rows;
  }
  /// Flop of the inversion, without those of the operator: of work that the thread which makes it counts, between ranks the root's.
  double flops() const;
  /// Whether all its elements are numbers: the same on every rank.
  bool is_finite() const { return is_finite_; }

  const LatticePointer& lattice() const { return lattice_; }
  int components() const { return components_; }
  const runtime::Handle& rows(int block) const { return rows_[static_cast<std::size_t>(block)]; }
  /// Of each odd site, in the order of global sites: block << 16 | outer site.
  const runtime::Handle& columns() const { return columns_; }

 private:
  LatticePointer lattice_;
  int components_;
  bool is_finite_ = true;
  std::vector<runtime::Handle> rows_;
  runtime::Handle columns_;
};

/// Applies it to n vectors. Sums run over the odd sites in the order of global sites, and over components, each product fused with its
/// addition: the same bits for every cut, device, policy and number of vectors. A task per block, which reads the vectors of all blocks;
/// between ranks they are sent to all. Cost: 8 rows^2 flop a vector; bytes: the matrix, once for several vectors. No sums, no iterations.
class DenseSolver {
 public:
  /// inverse outlives it.
  DenseSolver(const DenseInverse& inverse, int vectors);
  /// out_v = (1 - H H)^-1 in_v on odd sites.
  void apply(const Field& out, const Field& in, const runtime::Guard& guard);

 private:
  const DenseInverse& inverse_;
  int vectors_;
  runtime::AllGather vectors_of_all_;
};

}  // namespace quarkstar::coarse
