#pragma once
// Multigrid's coarse operator, D_c = R M P, on the task graph.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/coarse/aggregates.hpp"
#include "runtime/cut/halo.hpp"

#include <vector>

namespace quarkstar::coarse {

/// The nine dense 2N x 2N blocks of each coarse site by which D_c couples it to itself and to its eight neighbours; and what the even-odd
/// system needs of them.
class CoarseMatrices {
 public:
  /// Memory for them.
  explicit CoarseMatrices(const Aggregates& aggregates);
  /// Of one coarse site: 20 (2N)^2 reals; half: of the copy in 16 bits.
  static std::size_t bytes_per_site(int components, Precision precision);
  /// D_c = R M P for the operator that m applies, M on all sites with hops over one site, for
  /// as many vectors as a field of null vectors has. For each chirality's columns R M
  /// makes the sum of a site's nine blocks, and R on the last layer of aggregates, of M's hops forward along a direction alone, the block
  /// of that direction. A block backward is the adjoint of the neighbour's block forward, as M's hops are gamma_5-hermitian. A site's own
  /// block is the sum without the others. Cost: M on 2 N vectors, its forward hops once more, R of 2 N vectors, and on the four layers.
  void compute(const Aggregates& aggregates, EvenOdd& m);
  /// After compute(): A^-1 of each site's own block A, and A^-1 B in the place of each block B between sites. 8 * 8 (2N)^3 flop per site
  /// and those of the inverse. Where A has no inverse there will be no numbers.
  void eliminate();
  bool eliminated() const { return eliminated_; }
  /// After eliminate(), in single precision, else ShapeError: a copy in 16 bits (binary16.hpp), for operators with Stored::narrow. Each
  /// number is rounded once, so it is the same on every device.
  void narrow();
  /// Frees all but that copy: only operators with Stored::narrow are made from now on.
  void keep_narrow() { blocks_.clear(); }

  const LatticePointer& lattice() const { return lattice_; }
  int components() const { return components_; }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  const runtime::Handle& narrow_block(int b) const { return narrow_[static_cast<std::size_t>(b)]; }

 private:
  void set_columns(const FullField& images, int block, int first_column);
  void set_adjoints(runtime::Halo& faces, const FullField& images, int mu, int first_row);
  LatticePointer lattice_;
  int components_;
  bool eliminated_ = false;
  std::vector<runtime::Handle> blocks_, narrow_;
};

/// D_c on n coarse vectors, and its even-odd system. With A the blocks of the sites themselves, B those between sites and H = A^-1 B, which
/// changes parity, D_c = A (1 + H), and D_c x = b is
///   (1 - H_oe H_eo) x_o = A^-1 b_o - H_oe A^-1 b_e,   x_e = A^-1 b_e - H_eo x_o.
/// Blocks are read once for several vectors; sums run over the site itself, then the directions, and over components, each product fused
/// with its addition: the same bits for every cut, device, policy and number of vectors. Cost of apply(): 64 (2N)^2 flop per site (of both
/// parities) and vector; bytes: 8 blocks per site. A task packs the sites at a block's faces, one computes the interior, one the boundary.
/// No adjoints: ShapeError.
class CoarseOperator : public EvenOdd {
 public:
  /// Of the matrices: as they are computed, or the copy in 16 bits, whose products and sums are in single precision all the same.
  enum class Stored { wide, narrow };
  /// matrices: computed, and outlives this. All but times_m() want them eliminated; Stored::narrow wants narrow().
  CoarseOperator(const CoarseMatrices& matrices, int vectors, Stored stored = Stored::wide);

  /// out = (1 - H H) in on odd sites.
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  void prepare(const Field& rhs, const FullField& b, bool adjoint = false) override;
  void prepare(const Field& rhs, const FullField& b, const runtime::Guard& guard);
  void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) override;
  void reconstruct(const Field& other, const FullField& b, const Field& x, const runtime::Guard& guard);
  /// factor: 1, else ShapeError.
  void times_m(const Field& out, const FullField& x, double factor, bool adjoint = false, const runtime::Guard& guard = {}) override;
  void forward_hop(const Field& out, const FullField& x, int mu) override;
  /// out = A in on odd sites: 1 - H H is A^-1 times the Schur complement of D_c.
  void times_own(const Field& out, const Field& in, const runtime::Guard& guard);
  double residual_factor(std::size_t) const override { return 1; }

  const runtime::PartialSums& sums() const override { return sums_; }
  const LatticePointer& lattice() const override { return matrices_.lattice(); }
  int parity() const override { return 1; }
  int components() const override { return matrices_.components(); }
  int vectors() const override { return vectors_; }

 private:
  /// out = [base -, base +] (block own times self + sum_d block d times others(X + d)); nullptr: without. direction: of others alone.
  struct Product {
    const Field* self = nullptr;
    int own = 0;
    const Field *others = nullptr, *base = nullptr;
    bool add = false;
    int direction = -1;
  };
  void submit(const Field& out, const Product& product, const runtime::Guard& guard);
  void submit_sites(const Field& out, const Product& product, const runtime::Guard& guard, int block, bool boundary);

  const CoarseMatrices& matrices_;
  int vectors_;
  Stored stored_;
  runtime::Halo faces_;
  runtime::PartialSums sums_;
  FullField half_;  ///< intermediate vectors
};

}  // namespace quarkstar::coarse
