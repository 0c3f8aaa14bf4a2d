#pragma once
// Deflation by eigenvectors.
#include "codelets/field/projection.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "solvers/eigen/basis.hpp"
#include "solvers/eigen/modes_memory.hpp"
#include "solvers/projector.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace quarkstar {

/// (A + shift)^-1 on the space of eigenvectors v_i of A: sum_i v_i <v_i, in> / (lambda_i + shift). The products <v_i, in> are of vectors
/// rounded to 24 bits (blas::rounded_products()), unless they are to be exact: along a mode some 1e-7 |in| may be left, of the smoothest
/// vectors 2e-6, which further corrections take out; the rest is arithmetic of double precision. Cost: the vectors pass through memory
/// twice, whatever the number of right-hand sides; 16 flop per site, component, eigenvector and right-hand side. Memory: the eigenvectors,
/// up to a multiple of 16, in the precision that is asked for. The bits of a right-hand side do not depend on those beside it.
class EigenProjector : public Projector {
 public:
  /// A block of so many vectors is added at a time.
  static int block_for(int modes, int slices = 1) { return std::min(modes, Basis::most_block_for(slices)); }
  /// Vectors that it holds: whole blocks.
  static int vectors_for(int modes, int slices = 1) { return whole_blocks(modes, modes > 0 ? block_for(modes, slices) : 1); }
  /// As many vectors in double precision as take the memory that it needs where its fields are used. where: not on_cpus.
  static int vectors_in_doubles(int modes, int components, Precision stored, int slices, ModesMemory where);
  /// values: lambda_i. stored: in which precision the vectors are held, which come by add(). where: bits do not depend on it. Throws
  /// Error(environment) for on_cpus in a session without CPU workers.
  EigenProjector(const LatticePointer& lattice, int parity, int components, std::vector<double> values,
                 Precision stored = Precision::double_, ModesMemory where = ModesMemory::device);

  int modes() const { return static_cast<int>(values_.size()); }
  const std::vector<double>& values() const { return values_; }
  /// Behind the last mode there may be vectors that are zero. On the lattice of the projector's fields, but where CPUs project.
  const Basis& vectors() const { return basis_; }
  /// The next eigenvectors, normalised, on the whole lattice or this rank's part: block_for(modes(), slices) of them, the last time what is
  /// left, with slices as Field::site_vectors() has them.
  void add(std::span<const HostField> vectors);

  int parity() const override { return basis_.parity(); }
  /// Does not wait.
  void apply(const Field& out, const Field& in, const PerVector& shifts, bool exact = false) const override;
  double gain2(bool exact = false) const override;

 private:
  /// Fields of the basis that one task reads.
  struct Group {
    std::size_t first, fields;
    int modes;                ///< that are in them
    runtime::Handle numbers;  ///< scales of the modes, and their values
  };
  /// apply() on the lattice of the vectors.
  void project(const Field& out, const Field& in, const PerVector& shifts, bool exact) const;
  void make_groups();
  /// Those of a group, in double precision.
  blas::VectorsInTiles vectors_of(const Group& group) const;

  std::vector<double> values_;
  LatticePointer lattice_;
  ModesMemory where_;
  Basis basis_;
  std::vector<Group> groups_;
  std::shared_ptr<runtime::HandlePool> pool_ = std::make_shared<runtime::HandlePool>();  ///< for those who have none
};

}  // namespace quarkstar
