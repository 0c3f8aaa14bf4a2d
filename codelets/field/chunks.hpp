#pragma once
// Which layout of a vector's words a GPU kernel is for.
#include "codelets/field/host_field.hpp"

#include <type_traits>

namespace quarkstar {

/// launch(integral constant): whether words lie in chunks, as only those of spinors do.
template <int Components, class Launch>
void with_chunks(int chunked, Launch&& launch) {
  if constexpr (Components == spinor_components)
    if (chunked != 0) return launch(std::true_type{});
  launch(std::false_type{});
}

}  // namespace quarkstar
