#pragma once
// Multigrid's smoother: a polynomial of the operator.
#include "solvers/krylov/krylov.hpp"

#include <vector>

namespace quarkstar {

/// c_1, ..., c_m, real, for which r_v - (c_1 A + ... + c_m A^m) r_v is least, in the sum of squares over all vectors of r: what m steps of
/// GCR with the same numbers for all vectors do. Less than m where r has no more directions. By vectors made orthogonal one after
/// another: the products of A's powers lose too many digits in single precision. Waits. m applications of A; m fields.
std::vector<double> minimal_residual_polynomial(LinearOperator& a, const Field& r, int m);

/// x_v += p(A) r_v, p(A) = c_1 + c_2 A + ... + c_m A^(m-1), by Horner's rule: no sums, no numbers that a task must wait for, and the same p
/// for all r, so that it is linear. Cost: m - 1 applications of A and m passes over vectors.
class Smoother {
 public:
  /// a outlives it.
  Smoother(LinearOperator& a, std::vector<double> polynomial);
  /// Fields that it holds for each right-hand side.
  static constexpr int fields = 2;
  /// Submits it. guard: the caller's state; x_v of those it leaves out stay as they are.
  void apply(const Field& x, const Field& r, const runtime::Guard& guard) const;

 private:
  LinearOperator& a_;
  std::vector<double> polynomial_;
  Field sums_[fields];
};

}  // namespace quarkstar
