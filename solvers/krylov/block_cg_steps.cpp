#include "solvers/krylov/block_cg_steps.hpp"

#include "solvers/small_matrices.hpp"

#include <Eigen/Eigenvalues>

namespace quarkstar::block_cg_steps {
namespace {

using Matrix = SmallMatrix;

/// The numbers of a matrix as they are after their use, for the trail of the first vector.
void note(State& s, const Entry (&matrix)[VectorMatrix::most]) {
  for (int i = 0; i < s.vectors * s.vectors; ++i) s.note(0, matrix[i]);
}

void stop_all(State& s, StopReason reason) {
  for (int v = 0; v < s.vectors; ++v) s.stop(v, s.pending[v] != StopReason::running ? s.pending[v] : reason);
  s.settle();
}

}  // namespace

void Begin::run(State& s, const double* gram) {
  const Matrix g = hermitian_of_gram(gram, s.vectors);
  for (int v = 0; v < s.vectors; ++v) s.check_start(v, g(v, v).real());
  if (!g.allFinite()) return stop_all(s, StopReason::not_finite);
  s.settle();
  for (int v = 0; v < s.vectors; ++v) s.stopped[v] = s.status.stop != 0 ? s.stopped[v] : 0;  // they end together
  const OrthonormalFactors factors = orthonormal_factors(g, s.resolution);
  store(s.orthonormal, factors.t);
  store(s.c, factors.s);
}

void Alpha::run(State& s, const double* gram) {
  note(s, s.orthonormal);
  note(s, s.direction);
  const Matrix g = hermitian_of_gram(gram, s.vectors);
  if (!g.allFinite()) return stop_all(s, StopReason::not_finite);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(g);
  const double largest = eigen.eigenvalues()(s.vectors - 1);
  if (!(largest > 0)) return stop_all(s, StopReason::zero_denominator);
  // Directions that were left out have rows and columns of zeros.
  Eigen::VectorXd inverse = Eigen::VectorXd::Zero(s.vectors);
  for (int i = 0; i < s.vectors; ++i)
    if (eigen.eigenvalues()(i) > 1e-14 * largest) inverse(i) = 1 / eigen.eigenvalues()(i);
  const Matrix alpha = eigen.eigenvectors() * inverse.asDiagonal() * eigen.eigenvectors().adjoint();
  store(s.minus_alpha, -alpha);
  store(s.solution, alpha * load(s.c, s.vectors, s.vectors));
}

void Orthonormalise::run(State& s, const double* gram) {
  note(s, s.minus_alpha);
  note(s, s.solution);
  const Matrix g = hermitian_of_gram(gram, s.vectors);
  if (!g.allFinite()) return stop_all(s, StopReason::not_finite);
  const OrthonormalFactors factors = orthonormal_factors(g, s.resolution);
  const Matrix c = factors.s * load(s.c, s.vectors, s.vectors);
  store(s.orthonormal, factors.t);
  store(s.direction, factors.s.adjoint());
  store(s.c, c);
  // All end when none runs any more; then each gives its own reason, and the step that ends now counts.
  bool running = false;
  for (int v = 0; v < s.vectors; ++v) {
    s.pending[v] = s.verdict(v, c.col(v).squaredNorm());
    running = running || s.pending[v] == StopReason::running;
  }
  if (running) return;
  for (int v = 0; v < s.vectors; ++v) {
    s.stop(v, s.pending[v]);
    s.iterations[v] = s.status.step + 1;
  }
  s.settle();
}

}  // namespace quarkstar::block_cg_steps
