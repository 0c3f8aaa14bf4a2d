#pragma once
// The scalar steps of block_cg.cpp, on n x n matrices. They run on CPUs: their eigenvalue decompositions are no work
// for one GPU thread.
#include "codelets/field/gram.hpp"
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::block_cg_steps {

using blas::VectorMatrix;
using Entry = runtime::ComplexScalar;

/// The residuals of all right-hand sides, as columns of R, are R = Q C with orthonormal columns Q, some of them zero where columns of R
/// depend on each other.
struct State : KrylovState {
  double resolution = 0;
  Entry c[VectorMatrix::most]{};            ///< C
  Entry orthonormal[VectorMatrix::most]{};  ///< T: Q = (vectors before) T
  Entry direction[VectorMatrix::most]{};    ///< S^+: P = Q + P S^+
  Entry minus_alpha[VectorMatrix::most]{};  ///< -(P^+ A P)^-1
  Entry solution[VectorMatrix::most]{};     ///< alpha C: X += P alpha C
};

struct Begin {  // Q C = R, from R^+ R
  static constexpr const char* name = "block_cg.begin";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* gram);
};

struct Alpha {  // alpha = (P^+ A P)^-1, from P^+ A P
  static constexpr const char* name = "block_cg.alpha";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* gram);
};

struct Orthonormalise {  // Q' S = Q - A P alpha, C' = S C, from the Gram matrix of these vectors;  |r_v|^2 = sum_i
                         // |C'_iv|^2
  static constexpr const char* name = "block_cg.orthonormalise";
  static constexpr bool ends_iteration = true;
  static double record(const State& s, int v) { return s.norm2[v]; }
  static void run(State& s, const double* gram);
};

}  // namespace quarkstar::block_cg_steps
