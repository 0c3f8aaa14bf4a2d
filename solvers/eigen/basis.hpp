#pragma once
// A growing orthonormal basis of vectors on the task graph, and its products with blocks of other vectors.
#include "codelets/field/projection.hpp"
#include "solvers/small_matrices.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace quarkstar {

/// The number of vectors of as many whole blocks as hold so many.
constexpr int whole_blocks(int vectors, int block) { return (vectors + block - 1) / block * block; }

/// Up to `capacity` vectors of one kind on the sites of one parity, in fields of tile_for(block) vectors each, so that a pass over one
/// serves a whole block of `block` vectors. Vectors of a field beyond count() are zero. Sums are exact, sums over vectors run in the order
/// of the basis: the bits of everything depend on the vectors and on `block` alone. Waits only where it says so. Vectors may be held in
/// less than the lattice's precision: one field at a time is then widened where it is used, and all arithmetic is the lattice's. Where a
/// GPU's memory is full the runtime keeps fields that were not used for longest in host memory, and copies them back for the tasks that
/// read them, while others run. That is how a basis may be larger than that memory; basis_on_device() says what must be there.
class Basis {
 public:
  static constexpr int most_block = blas::most_products / most_vectors;
  /// Vectors of a block at most, with slices of a fifth dimension: a task has sums for products with most_vectors others, and a site has
  /// room for so many slices. slices: at least 1.
  static constexpr int most_block_for(int slices) { return most_vectors / slices < most_block ? most_vectors / slices : most_block; }
  /// Vectors of a field, for blocks of so many.
  static constexpr int tile_for(int block, int slices = 1) { return most_block_for(slices) / block * block; }
  /// Fields that a rotation sums together where the basis is in host memory, so that it is read once for all of them.
  static constexpr int rotated_together = 4;
  /// Fields at most that tasks read together where they are in host memory, and where they are made wide first.
  static constexpr std::size_t streamed_together = 2, widened_together = 4;

  /// Throws ShapeError unless 1 <= block <= most_block_for(slices) and `capacity` is a multiple of it, and for lattices with vectors in
  /// lanes. stored: in which precision vectors are held. in_host_memory: they may not have room on a device; rotations then read them less
  /// often, and take memory for more sums.
  Basis(LatticePointer lattice, int parity, int components, int block, int capacity, Precision stored = Precision::double_,
        bool in_host_memory = false);

  const LatticePointer& lattice() const { return lattice_; }
  int parity() const { return parity_; }
  int components() const { return components_; }
  int block() const { return block_; }
  int capacity() const { return capacity_; }
  int count() const { return count_; }
  Precision stored() const { return stored_->precision(); }
  /// The fields, in the order of the vectors, and one or some of them in the lattice's precision, until the next ones are asked for.
  const std::vector<Field>& tiles() const { return tiles_; }
  const Field& wide(const Field& tile) const { return *wide({&tile, 1}).front(); }
  std::vector<const Field*> wide(std::span<const Field> tiles) const;
  /// A field of one block, or of so many vectors.
  Field field() const { return field(block_); }
  Field field(int n) const { return {lattice_, parity_, components_, n}; }

  void clear();
  /// Adds a block of vectors at the end. Throws ShapeError where they have no room.
  void append(const Field& vectors);
  /// to <- the block that begins with vector `first`, a multiple of block().
  void extract(const Field& to, int first) const;

  /// V^+ w, of the count() vectors V with those of w. Waits for it.
  SmallMatrix products(const Field& w) const;
  /// The same of vectors that are rounded to 24 bits (blas::rounded_products()), up to 2e-6 |w|: a first pass over the basis, which a
  /// second one with products() mends. In less time; exact where the basis is narrow.
  SmallMatrix rough_products(const Field& w) const;
  /// w += V c.
  void add(const Field& w, const SmallMatrix& c) const;
  /// out = V c.
  void combine(const Field& out, const SmallMatrix& c) const;
  /// Fields that a task reads at most, on all ranks.
  std::size_t fields_together() const { return fields_together_; }
  /// V <- V r, of which r.cols() vectors are left, a multiple of block(). Fields that r leaves alone are not touched, zeros cost nothing.
  /// Takes memory for the new fields beside the old ones. Vectors in less than the lattice's precision are rounded once more, but where
  /// they are left alone.
  void rotate(const SmallMatrix& r);

 private:
  Field make_tile() const { return {stored_, parity_, components_, tile_}; }
  /// Whether vectors are held in the lattice's precision.
  bool is_wide() const { return stored_ == lattice_; }
  std::size_t most_fields(bool in_host_memory) const;
  /// The fields that hold vectors, in groups for a task each.
  std::vector<blas::VectorsInTiles> groups() const;
  /// to = base + V c.
  void add_to(const Field& to, const Field* base, const SmallMatrix& c) const;
  void add_narrow(const Field& w, const SmallMatrix& c) const;
  /// Of all vectors. Waits.
  void find_scales() const;
  LatticePointer lattice_, stored_;
  int parity_, components_, block_, tile_, capacity_, together_, count_ = 0;
  std::vector<Field> tiles_;
  std::size_t fields_together_;
  mutable std::deque<Field> wide_;  ///< where stored_ is narrower: as many as were asked for together
  /// Scales of rounding of the first vectors, as far as they are known, and the sums of which those of the next block follow.
  mutable std::vector<double> scales_;
  mutable std::optional<runtime::PartialSums> magnitudes_;
};

/// As many vectors in double precision as take the memory of a basis that is held in another one, with the field that is widened.
int basis_in_doubles(int vectors, int block, int components, Precision stored, int slices = 1);
/// The same of what a device must hold of a basis of so many vectors in host memory: the fields that a task reads, and those of the next
/// ones, which arrive meanwhile, and the sums of a rotation.
int basis_on_device(int vectors, int block, int components, Precision stored, int slices = 1);
/// Bytes of so many vectors on a block.
double basis_bytes(const runtime::Block& block, int components, int vectors);

/// Bytes of the host that multiply() takes until its tasks have ended.
double multiplication_bytes();
/// V^+ V of one field. Waits for it.
SmallMatrix gram_of(const Field& v);
/// out = base + in m, without base in m: blas::multiply() by a matrix of the host.
void multiply(const Field& out, const Field* base, const Field& in, const SmallMatrix& m);

}  // namespace quarkstar
