#pragma once
// Deflation by eigenvectors.
#include "solvers/eigen/basis.hpp"
#include "solvers/projector.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace quarkstar {

/// (A + shift)^-1 on the space of eigenvectors v_i of A: sum_i v_i <v_i, in> / (lambda_i + shift). Cost: the vectors pass through memory
/// twice, whatever the number of right-hand sides; 16 flop per site, component, eigenvector and right-hand side. Memory: the eigenvectors,
/// up to a multiple of 16, in the precision that is asked for; arithmetic and sums are those of double precision in any case. The bits of a
/// right-hand side do not depend on those beside it.
class EigenProjector : public Projector {
 public:
  /// A block of so many vectors is added at a time.
  static int block_for(int modes, int slices = 1) { return std::min(modes, Basis::most_block_for(slices)); }
  /// Vectors that it holds: whole blocks.
  static int vectors_for(int modes, int slices = 1) { return whole_blocks(modes, modes > 0 ? block_for(modes, slices) : 1); }
  /// values: lambda_i. stored: in which precision the vectors are held, which come by add().
  EigenProjector(const LatticePointer& lattice, int parity, int components, std::vector<double> values,
                 Precision stored = Precision::double_);

  int modes() const { return static_cast<int>(values_.size()); }
  const std::vector<double>& values() const { return values_; }
  /// Behind the last mode there may be vectors that are zero.
  const Basis& vectors() const { return basis_; }
  /// The next eigenvectors, normalised, on the whole lattice or this rank's part: block_for(modes(), slices) of them, the last time what is
  /// left, with slices as Field::site_vectors() has them.
  void add(std::span<const HostField> vectors);

  int parity() const override { return basis_.parity(); }
  void apply(const Field& out, const Field& in, const PerVector& shifts) const override;
  double gain2() const override;

 private:
  std::vector<double> values_;
  Basis basis_;
};

}  // namespace quarkstar
