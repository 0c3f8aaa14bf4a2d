#pragma once
// In CPU kernels: several vectors share what is read of null vectors and matrices.
#include "codelets/arch/unroll.hpp"
#include "codelets/coarse/transfer_site.hpp"

namespace quarkstar::coarse {

/// body(Index<Count>, first): vectors_at_a_time vectors where none of them is left out, else one by one.
template <class Body>
QUARKSTAR_HD void for_vectors(const std::int32_t* left_out, int vectors, Body&& body) {
  const auto is_out = [&](int v) QUARKSTAR_INLINE_LAMBDA { return left_out != nullptr && left_out[v] != 0; };
  for (int v = 0; v < vectors;) {
    bool together = v + vectors_at_a_time <= vectors;
    for (int t = 0; together && t < vectors_at_a_time; ++t) together = !is_out(v + t);
    if (together) body(site::Index<vectors_at_a_time>{}, v);
    else if (!is_out(v)) body(site::Index<1>{}, v);
    v += together ? vectors_at_a_time : 1;
  }
}

}  // namespace quarkstar::coarse
