#pragma once
// Krylov solvers, plainly.
#include "tests/reference/field.hpp"

#include <functional>
#include <vector>

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

/// |r|^2 of a recurrence after each of its steps, and where it has come to.
struct History {
  Field x;
  std::vector<double> norm2;
};

/// So many steps for A x = b from x = 0, in the order of the papers: P. Ghysels and W. Vanroose, Parallel Computing 40 (2014) 224,
/// algorithm 3 (A hermitian positive); S. Cools and W. Vanroose, Parallel Computing 65 (2017) 1, algorithm 4.
History pipelined_cg(const Operator& a, const Field& b, int steps);
History pipelined_bicgstab(const Operator& a, const Field& b, int steps);

}  // namespace quarkstar::reference
