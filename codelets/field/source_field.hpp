#pragma once
// Sources on the task graph: right-hand sides of a solve without fields in host memory.
#include "codelets/field/field.hpp"
#include "codelets/field/source.hpp"

#include <span>

namespace quarkstar {

/// A right-hand side: 3 spin + colour of a source, or the colour.
struct SourceColumn {
  Source source;
  int column;
};

/// Vector v of the field <- what make_source() has of columns[v] on the sites of the field's parity, the same bits. What crosses a bus is
/// a number per site of a time slice for each source. Throws as check_source(); ShapeError where the field has another number of vectors,
/// fewer components than a column needs, or no double precision.
void submit_sources(const Field& field, std::span<const SourceColumn> columns);

}  // namespace quarkstar
