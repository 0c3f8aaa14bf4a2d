#pragma once
// The scalar steps of block_cg.cpp, on n x n matrices. They run on CPUs: their eigenvalue decompositions are no work
// for one GPU thread.
#include "codelets/actions/staggered/block_operations.hpp"
#include "solvers/krylov/vector_krylov.hpp"

namespace quarkstar::block_cg_steps {

using staggered::BlockMatrix;
using Entry = runtime::ComplexScalar;

/// The residual block is R = Q C with orthonormal columns Q, some of them zero where columns of R depend on each other.
struct State : VectorKrylovState {
  double resolution = 0;
  Entry c[BlockMatrix::most]{};            ///< C
  Entry orthonormal[BlockMatrix::most]{};  ///< T: Q = (block before) T
  Entry direction[BlockMatrix::most]{};    ///< S^+: P = Q + P S^+
  Entry minus_alpha[BlockMatrix::most]{};  ///< -(P^+ A P)^-1
  Entry solution[BlockMatrix::most]{};     ///< alpha C: X += P alpha C
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

struct Orthonormalise {  // Q' S = Q - A P alpha, C' = S C, from the Gram matrix of that block;  |r_v|^2 = sum_i
                         // |C'_iv|^2
  static constexpr const char* name = "block_cg.orthonormalise";
  static constexpr bool ends_iteration = true;
  static double record(const State& s, int v) { return s.norm2[v]; }
  static void run(State& s, const double* gram);
};

}  // namespace quarkstar::block_cg_steps
