#pragma once
// Operations that mix the vectors of a field: n vectors as the columns of a tall matrix.
#include "codelets/field/field.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar::blas {

/// A matrix in a state: row-major complex numbers, a row for each vector of one field, a column for each of another.
struct VectorMatrix {
  static constexpr int most = most_vectors * most_vectors;
  std::int32_t offset = 0;  ///< of the first number in the state
  template <class State>
  static VectorMatrix of(runtime::ComplexScalar (State::*member)[most]) {
    const State probe{};
    return {static_cast<std::int32_t>(reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe))};
  }
};

// All submit one task per block, and throw ShapeError when the fields do not belong together, or have vectors in lanes. The first two do
// nothing once the state has stopped.

/// out_v = base_v + sum_w in_w M_wv; without base: the sum alone. `in` may have another number of vectors than out and base; where it has
/// not, fields may be the same. 8 flop per site, component, and pair of vectors.
void multiply(const Field& out, const Field* base, const Field& in, const VectorMatrix& matrix, const runtime::Handle& state);

/// The hermitian matrix <a_v, b_w>, b = A a with A hermitian: n^2 real sums, at v n + w the real part for v <= w,
/// at w n + v the imaginary part of <a_v, b_w> for v < w. 4 n (n + 1) flop per site and
/// component.
void gram(const Field& a, const Field& b, const runtime::PartialSums& partials, const runtime::Handle& state);

/// <a_v, b_w> for every v and w: 2 (v m + w) the real part and 2 (v m + w) + 1 the imaginary one, of m vectors in b. 8 flop per site,
/// component and pair. Throws ShapeError for more pairs than most_products.
inline constexpr int most_products = runtime::PartialSums::most_of_all / 2;
void products(const Field& a, const Field& b, const runtime::PartialSums& partials);

}  // namespace quarkstar::blas
