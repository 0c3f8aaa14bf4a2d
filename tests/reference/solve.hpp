#pragma once
// Conjugate gradients, plainly.
#include "tests/reference/field.hpp"

#include <functional>

namespace quarkstar::reference {

using Operator = std::function<Field(const Field&)>;

struct Solution {
  Field x;
  int iterations;
  double relative_residual;  ///< |b - M x| / |b|, recomputed at the end
};

/// Solves A x = b, A hermitian positive, until the recurrence's |r| <= tolerance |b|.
/// Throws Error(numerical) when max_iterations do not suffice.
Solution cg(const Operator& a, const Field& b, double tolerance, int max_iterations = 10000);

/// Solves M x = b by CG on M^+ M x = M^+ b, until |M^+ r| <= tolerance |M^+ b|.
/// Throws Error(numerical) when max_iterations do not suffice.
Solution cgnr(const Operator& m, const Operator& m_dagger, const Field& b, double tolerance, int max_iterations = 10000);

}  // namespace quarkstar::reference
