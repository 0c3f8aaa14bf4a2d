#pragma once
// Aggregates of fine sites and the null vectors on them: the space between two levels of multigrid, on the task graph.
#include "codelets/coarse/transfer_site.hpp"
#include "codelets/field/field.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>
#include <vector>

namespace quarkstar::coarse {

static_assert(lanes_of_components == coarse_lanes && null_vectors_at_once(most_null_vectors) == most_vectors);

/// Throws Error(input) naming `aggregate` or `null-vectors` unless aggregates are 2 sites or more long, divide the lattice into an even
/// number along every direction and each block into whole ones (along x an even number), and N is a multiple of 4 from 4 to 32, or of 8 up
/// to 64, that does not exceed the components of one chirality of an aggregate. components: of a fine vector.
void require_aggregates(const runtime::Decomposition& decomposition, const Coord& aggregate, int null_vectors,
                        int components = spinor_components);
/// The part of it that asks for no cut, and the one that asks for no lattice.
void require_aggregates(const Coord& lattice, const Coord& aggregate, int null_vectors, int components = spinor_components);
void require_null_vectors(int null_vectors);
/// Whether no block cuts an aggregate, and along x each has an even number of them.
bool has_whole_aggregates(const runtime::Decomposition& decomposition, const Coord& aggregate);
/// Of the lattice whose sites are the aggregates. The aggregates fit.
runtime::Decomposition coarse_decomposition(const runtime::Decomposition& fine, const Coord& aggregate);

/// The unit (LayoutRequest::unit) with which no aggregate lies in two lanes.
Coord unit_of(const Coord& aggregate);

/// Of a block of a coarse lattice, as every rank knows it of every block: one lane and no tiles.
inline BlockShape shape_of_coarse(const runtime::Block& block) {
  return {.outer = block.extents, .tile = block.extents, .stride = {}, .lanes = 1, .origin_parity = parity_of(block.origin)};
}

/// Who has the sites of the next level: who has their aggregates; or every rank all of them, in one block of its first owner, so that work
/// on them is done by every rank for itself, without messages.
enum class NextLevel { cut, whole };

/// P and R = P^+ between fine vectors (spinors, or coarse vectors of a level above) and coarse vectors of 2 N complex numbers, one for each
/// null vector and chirality (gamma_5 = 1 first; DeGrand-Rossi basis), on a lattice with one site for each aggregate:
///   (P c)(x) = sum_j null_j(x) (c_j(X) (1 + gamma_5) / 2 + c_{N+j}(X) (1 - gamma_5) / 2),   x in the aggregate X.
/// So P sigma_3 = gamma_5 P, and P^+ P = 1 once orthonormalise() has run. An aggregate is within a block, so no task reads another block's
/// data; its sums run over its sites x fastest: bits do not depend on cut, lanes, device, policy or number of vectors. Everything submits
/// one task per block. Source: M. Luescher, 0706.2298; Frommer et al., 1303.1377.
class Aggregates {
 public:
  /// fine: in single or double precision, with unit_of(aggregate) for a unit and lanes of sites, and its vectors' components. Throws as
  /// require_aggregates() does.
  Aggregates(const LatticePointer& fine, int fine_components, const Coord& aggregate, int null_vectors, NextLevel next = NextLevel::cut);

  const LatticePointer& fine() const { return fine_; }
  /// One lane, no phases at the edges (operators on it contain them).
  const LatticePointer& coarse() const { return coarse_; }
  /// The same sites, cut as the fine lattice is: where R leaves them. coarse() itself unless the next level is whole.
  const LatticePointer& pieces() const { return pieces_; }
  int null_vector_count() const { return null_vectors_.front().even.vectors() * static_cast<int>(null_vectors_.size()); }
  int components() const { return 2 * null_vector_count(); }
  const Coord& extents() const { return extents_; }
  int fine_components() const { return null_vectors_.front().even.components(); }
  /// N fine vectors in one field or two (null_vectors_at_once()), to be written before the first use.
  const std::vector<FullField>& null_vectors() const { return null_vectors_; }
  FullField coarse_field(int vectors) const { return {coarse_, components(), vectors}; }

  /// Of even and odd sites; nullptr: zero there, or not wanted.
  using Fine = std::array<const Field*, 2>;
  static Fine both(const FullField& field) { return {&field.even, &field.odd}; }
  /// Coarse vectors on pieces(): a field for each parity, or one of both in either place.
  using Pieces = std::array<const Field*, 2>;
  /// Of the parity of a field alone.
  static Fine one(const Field& field) { return {field.parity() == 0 ? &field : nullptr, field.parity() == 1 ? &field : nullptr}; }

  /// Makes the null vectors of each aggregate and chirality orthonormal: Gram-Schmidt twice, sums in double precision. Vectors that depend
  /// on each other become no numbers. 4 passes of 8 N (N + 1) / 2 flop per site and component.
  void orthonormalise() const;
  /// out_v = P in_v. in: on coarse(). 8 N flop per site, component and vector.
  void prolong(const Fine& out, const FullField& in, const runtime::Guard& guard = {}) const;
  /// out_v = R in_v, or the part of it that comes from one layer of each aggregate. 8 N flop per site that counts, component and vector.
  void restrict(const Pieces& out, const Fine& in, const runtime::Guard& guard = {}, const Layer& layer = {}) const;
  void restrict(const FullField& out, const Fine& in, const runtime::Guard& guard = {}, const Layer& layer = {}) const {
    restrict(both(out), in, guard, layer);
  }
  /// out = R of the null vectors of a field as they were before orthonormalise(): triangular, for each is a sum of those that came of it
  /// and of the ones before it. Of all fields half the flop of restrict().
  void restrict_null_vectors(const Pieces& out, const FullField& before, int field = 0) const;
  /// out_j = P of the unit vector of one chirality and of the j-th null vector of a field, on all aggregates.
  void columns(const FullField& out, int chirality, int field = 0) const;
  /// The last layer of aggregates along a direction.
  Layer edge(int mu) const;

 private:
  struct Task;
  void make_tables(int block);
  void submit(TransferStep step, const Fine& fine, const Pieces& coarse, const runtime::Guard& guard, Task task, double flops) const;

  LatticePointer fine_, pieces_, coarse_;
  Coord extents_;
  std::vector<FullField> null_vectors_;
  std::vector<runtime::Handle> tables_;  ///< by block: sites, then places (TransferArguments) in pieces(), then in a whole coarse()
};

}  // namespace quarkstar::coarse
