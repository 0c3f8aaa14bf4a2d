#pragma once
// Sources on the task graph: right-hand sides of a solve without fields in host memory.
#include "codelets/field/field.hpp"
#include "codelets/field/source.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/handle.hpp"

#include <vector>

namespace quarkstar {

class QuarkSmearers;

/// A right-hand side: 3 spin + colour of a source, or the colour.
struct SourceColumn {
  Source source;
  int column;
};

/// Right-hand sides that tasks write.
class SourceColumns {
 public:
  /// Computes a number per site of a time slice of this rank's part for each source: what crosses a bus. Of smeared points tasks compute
  /// nine, smearing three colour vectors of the whole lattice for each; columns differ in what they take of these. smearers: of the same
  /// decomposition, with these smearings. Throws as check_source(), ShapeError for a smeared source without smearers.
  SourceColumns(const runtime::Decomposition& decomposition, std::vector<SourceColumn> columns, const QuarkSmearers* smearers = nullptr);

  /// Vector v of the field <- what make_source() has of the v-th column on the sites of the field's parity, the same bits, or that of a
  /// smeared point; the first ones where the field has fewer vectors. ShapeError where it has more, fewer components than a column needs,
  /// another lattice or part of it, or no double precision.
  void submit(const Field& field) const;

 private:
  void smear(const std::vector<Source>& sources, const std::vector<int>& first, const runtime::Decomposition& decomposition,
             const QuarkSmearers& smearers);

  Coord lattice_;
  Box part_;
  std::vector<SourceColumn> columns_;
  std::vector<int> numbers_;  ///< first slice of each column's source in the table
  runtime::Handle table_;
};

}  // namespace quarkstar
