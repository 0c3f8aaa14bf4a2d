#pragma once
#include "codelets/field/convert_site.hpp"
#include "codelets/field/field.hpp"

namespace quarkstar {

/// Where the vectors of a field are stored.
inline VectorPlaces places_of(const Field& field) {
  return {field.site_vectors(), field.lattice()->lanes().lanes, field.lattice()->vectors_in_lanes(), field.chunked() ? 1 : 0,
          field.vectors()};
}

}  // namespace quarkstar
