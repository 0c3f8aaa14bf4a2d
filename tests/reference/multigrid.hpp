#pragma once
// Multigrid's coarse space, written from the formulas: null vectors on aggregates, P, R = P^+ and D_c = R D P, all of them dense.
#include "tests/reference/field.hpp"

#include <functional>
#include <vector>

namespace quarkstar::reference {

/// A coarse vector: [coarse site, lexicographic][row], 2 N rows: null vectors with gamma_5 = 1, then with gamma_5 = -1.
using CoarseVector = std::vector<Complex>;

class CoarseSpace {
 public:
  /// Null vectors of any kind, made orthonormal on each aggregate and chirality (modified Gram-Schmidt, twice).
  CoarseSpace(std::vector<Field> null_vectors, const Coord& aggregate);

  int rows() const { return 2 * static_cast<int>(null_vectors_.size()); }
  Coord extents() const;
  const std::vector<Field>& null_vectors() const { return null_vectors_; }
  Field prolong(const CoarseVector& coarse) const;
  CoarseVector restrict(const Field& fine) const;
  /// R D P coarse.
  CoarseVector galerkin(const std::function<Field(const Field&)>& d, const CoarseVector& coarse) const {
    return restrict(d(prolong(coarse)));
  }

 private:
  std::int64_t aggregate_of(std::int64_t site) const;
  Coord aggregate_;
  std::vector<Field> null_vectors_;
};

}  // namespace quarkstar::reference
