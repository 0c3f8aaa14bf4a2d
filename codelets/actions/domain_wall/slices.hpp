#pragma once
// Products with matrices in the fifth dimension on the task graph.
#include "codelets/actions/domain_wall/slice_arguments.hpp"
#include "codelets/actions/domain_wall/slice_matrix.hpp"
#include "codelets/actions/linear_operator.hpp"
#include "codelets/actions/wilson/hopping.hpp"

#include <vector>

namespace quarkstar::domain_wall {

/// Matrices on the slices of a field, one of each kind for every right-hand side.
class Slices {
 public:
  /// A field times one of the matrices, by its number, times a factor.
  struct Term {
    int matrix;
    const Field* field;  ///< nullptr: what is made of the hops
    double factor = 1;
  };
  /// scale H from + x, or with H^+; scale: of each slice and right-hand side.
  struct Hops {
    const Field* from;
    bool adjoint = false;
    const Field* x = nullptr;
    PerVector scale = same_for_all(1);
  };

  /// hopping: domain_wall::hopping() for the slices of so many right-hand sides, which outlives this. matrices[i][v]: number i, of
  /// right-hand side v, or of all where there is one. In the precision of the lattice.
  Slices(wilson::Hopping& hopping, int vectors, const std::vector<std::vector<SliceMatrix>>& matrices);

  /// Submits out = T in, another field. Cost per site of the fifth dimension: 48 L_s flop where T is dense, else 24 or 72; bytes: every
  /// field once. Throws ShapeError where the fields do not belong together.
  void apply(const Field& out, const Term& term, const runtime::Guard& guard = {});

  /// Submits out = T in + S x with T, S of `first` and `second` (nullptr: nothing), the field of one of which is what is made of the hops,
  /// in the pass over memory that these need anyway, and sums over the slices. Only T may be dense, and then of the hops. Cost: that of the
  /// hops, and flops of each matrix as above; bytes: x once. Throws ShapeError as above. The sums are LinearOperator's, hopping.sums().
  void behind_hops(const Field& out, const Hops& hops, const Term& first, const Term* second = nullptr, const ApplySums& sums = {},
                   const runtime::Guard& guard = {});
  Form form(int matrix) const { return kind(matrix).form; }

 private:
  struct Kind {
    Form form;
    int step;
    std::int64_t offset;  ///< of its numbers in the handle
  };
  stencil::MixingTerm term_of(const Term& term) const;
  const Kind& kind(int matrix) const { return kinds_[static_cast<std::size_t>(matrix)]; }

  wilson::Hopping& hopping_;
  int vectors_;
  std::vector<Kind> kinds_;
  runtime::Handle numbers_;
};

}  // namespace quarkstar::domain_wall
