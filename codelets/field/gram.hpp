#pragma once
// Operations that mix the vectors of a field: n vectors as the columns of a tall matrix.
#include "codelets/field/field.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar::blas {

/// An n x n matrix in a state: row-major complex numbers, n = the fields' number of vectors.
struct VectorMatrix {
  static constexpr int most = most_vectors * most_vectors;
  std::int32_t offset = 0;  ///< of the first number in the state
  template <class State>
  static VectorMatrix of(runtime::ComplexScalar (State::*member)[most]) {
    const State probe{};
    return {static_cast<std::int32_t>(reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe))};
  }
};

// Both submit one task per block, which does nothing once the state has stopped, and throw ShapeError when the fields do not belong
// together, have vectors in lanes, or are chunked(): only hermitian operators have solvers that mix vectors.

/// out_v = base_v + sum_w in_w M_wv; without base: the sum alone. Fields may be the same. 8 n^2 flop per site
/// and component.
void multiply(const Field& out, const Field* base, const Field& in, const VectorMatrix& matrix, const runtime::Handle& state);

/// The hermitian matrix <a_v, b_w>, b = A a with A hermitian: n^2 real sums, at v n + w the real part for v <= w,
/// at w n + v the imaginary part of <a_v, b_w> for v < w. 4 n (n + 1) flop per site and
/// component.
void gram(const Field& a, const Field& b, const runtime::PartialSums& partials, const runtime::Handle& state);

}  // namespace quarkstar::blas
