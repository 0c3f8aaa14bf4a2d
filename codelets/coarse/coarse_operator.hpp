#pragma once
// Multigrid's coarse operator, D_c = R M P, on the task graph.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/coarse/aggregates.hpp"
#include "runtime/cut/halo.hpp"

#include <vector>

namespace quarkstar::coarse {

/// The nine dense 2N x 2N blocks of each coarse site by which D_c couples it to itself and to its eight neighbours.
class CoarseMatrices {
 public:
  /// Memory for them.
  explicit CoarseMatrices(const Aggregates& aggregates);
  /// Of one coarse site: 18 (2N)^2 reals.
  static std::size_t bytes_per_site(int components, Precision precision);
  /// D_c = R M P for the operator that m applies, M on all sites with hops over one site, for N vectors: M is applied 20 times to N
  /// vectors. Columns of one chirality are prolonged on every second aggregate, so that what comes back to an aggregate is its own
  /// (checkerboard), or is from one side (aggregates in every second layer; R of the first and of the last layer of sites). Waits for
  /// nothing.
  void compute(const Aggregates& aggregates, EvenOdd& m);

  const LatticePointer& lattice() const { return lattice_; }
  int components() const { return components_; }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }

 private:
  void set_columns(const Aggregates& aggregates, const Field& images, int block, int first_column, const Colours& mask);
  LatticePointer lattice_;
  int components_;
  std::vector<runtime::Handle> blocks_;
};

/// out_v(X) = A_XX in_v(X) + sum_d A_X,X+d in_v(X+d) for n coarse vectors on all sites. Blocks are read once for several vectors; sums run
/// over the site itself, then the directions, and over components, each product fused with its addition: the same bits for every cut,
/// device, policy and number of vectors. Cost: 72 (2N)^2 flop per site and vector; bytes: the blocks, in and out. A task packs the sites at
/// a block's faces, one computes the interior, one the boundary. No adjoint: ShapeError.
class CoarseOperator : public LinearOperator {
 public:
  /// matrices: computed, and outlives this.
  CoarseOperator(const CoarseMatrices& matrices, int vectors);

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return sums_; }
  const LatticePointer& lattice() const override { return matrices_.lattice(); }
  int parity() const override { return both_parities; }
  int components() const override { return matrices_.components(); }
  int vectors() const override { return vectors_; }

 private:
  void submit_pack(const Field& in, const runtime::Guard& guard, int block);
  void submit_sites(const Field& out, const Field& in, const runtime::Guard& guard, int block, bool boundary);

  const CoarseMatrices& matrices_;
  int vectors_;
  runtime::Halo faces_;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar::coarse
