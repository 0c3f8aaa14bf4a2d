#pragma once
// Products with matrices in the fifth dimension on the task graph.
#include "codelets/actions/domain_wall/slice_arguments.hpp"
#include "codelets/actions/domain_wall/slice_matrix.hpp"
#include "codelets/actions/linear_operator.hpp"

#include <vector>

namespace quarkstar::domain_wall {

/// Matrices on the slices of a field, one of each kind for every right-hand side.
class Slices {
 public:
  /// A field times one of the matrices, by its number, times a factor.
  struct Term {
    int matrix;
    const Field* field;
    double factor = 1;
  };

  /// matrices[i][v]: number i, of right-hand side v, or of all where there is one. In the precision of the lattice. in_place: numbers of
  /// those whose result may be in the place of what is read, which are stored as dense ones.
  Slices(LatticePointer lattice, int vectors, const std::vector<std::vector<SliceMatrix>>& matrices, const std::vector<int>& in_place);

  /// Submits out = T in + S x with T, S of `first` and `second` (nullptr: nothing), and sums over the slices. Only T may be dense, and then
  /// out may be its field. Cost per site of the fifth dimension: 48 L_s flop where T is dense, else 24 or 72 for each; bytes: every field
  /// once. Throws ShapeError where the fields do not belong together. The sums are LinearOperator's.
  void apply(const Field& out, const Term& first, const Term* second = nullptr, const ApplySums& sums = {},
             const runtime::Guard& guard = {});
  const runtime::PartialSums& sums() const { return sums_; }
  Form form(int matrix) const { return kinds_[static_cast<std::size_t>(matrix)].form; }

 private:
  struct Kind {
    Form form;
    int step;
    std::int64_t offset;  ///< of its numbers in the handle
  };
  LatticePointer lattice_;
  int vectors_;
  std::vector<Kind> kinds_;
  runtime::Handle numbers_;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar::domain_wall
