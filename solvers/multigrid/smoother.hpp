#pragma once
// Multigrid's smoother, and the filter that makes null vectors of noise: polynomials of the operator.
#include "solvers/krylov/krylov.hpp"

#include <vector>

namespace quarkstar {

/// c_1, ..., c_m, real, for which r_v - (c_1 A + ... + c_m A^m) r_v is least, in the sum of squares over all vectors of r: what m steps of
/// GCR with the same numbers for all vectors do. Less than m where r has no more directions. By vectors made orthogonal one after
/// another: the products of A's powers lose too many digits in single precision. Waits. m applications of A; m fields.
/// x: becomes (c_1 + ... + c_m A^(m-1)) r, for m fields more and no application.
std::vector<double> minimal_residual_polynomial(LinearOperator& a, const Field& r, int m, const Field* x = nullptr);

/// x_v += p(A) r_v, p(A) = c_1 + c_2 A + ... + c_m A^(m-1), by Horner's rule: no sums, no numbers that a task must wait for, and the same p
/// for all r, so that it is linear. Cost: m - 1 applications of A and m passes over vectors.
class Smoother {
 public:
  /// a outlives it.
  Smoother(LinearOperator& a, std::vector<double> polynomial);
  /// The terms of a polynomial grow with its degree and cancel each other.
  static constexpr int most_degree = 12;
  /// Fields that it holds for each right-hand side.
  static constexpr int fields = 2;
  /// Submits it. guard: the caller's state; x_v of those it leaves out stay as they are.
  void apply(const Field& x, const Field& r, const runtime::Guard& guard) const;

 private:
  LinearOperator& a_;
  std::vector<double> polynomial_;
  Field sums_[fields];
};

/// to = x / |x|, vector by vector.
void normalise(const Field& to, const Field& x);

/// Makes modes near zero grow: approximate inverses p_k(A) ... p_1(A), of as few polynomials as have so many applications together. Each is
/// fitted to what those before it make of one vector of noise, in which near zero modes have grown, so that it inverts these better.
class NullVectorFilter {
 public:
  /// a: for one vector; noise: is used up. Waits. So many applications of A and one more for each polynomial, and
  /// some passes over 2 (most_degree + 1) fields.
  NullVectorFilter(LinearOperator& a, const Field& noise, int applications);
  /// Submits to_v = p_k(A) ... p_1(A) from_v, normalised after each, of the same A for other vectors. to and from may be one.
  void apply(LinearOperator& a, const Field& to, const Field& from) const;

 private:
  std::vector<std::vector<double>> polynomials_;
};

}  // namespace quarkstar
