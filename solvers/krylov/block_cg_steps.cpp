#include "solvers/krylov/block_cg_steps.hpp"

#include <Eigen/Eigenvalues>

#include <cmath>

namespace quarkstar::block_cg_steps {
namespace {

using Matrix = Eigen::MatrixXcd;

/// Sums of blas::gram() as a hermitian matrix.
Matrix hermitian(const double* gram, int n) {
  Matrix m(n, n);
  for (int v = 0; v < n; ++v) {
    m(v, v) = gram[v * n + v];
    for (int w = v + 1; w < n; ++w) {
      m(v, w) = {gram[v * n + w], gram[w * n + v]};
      m(w, v) = std::conj(m(v, w));
    }
  }
  return m;
}

void store(Entry* to, const Matrix& m) {
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index j = 0; j < m.cols(); ++j) to[i * m.cols() + j] = {m(i, j).real(), m(i, j).imag()};
}

Matrix load(const Entry* from, int n) {
  Matrix m(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) m(i, j) = {from[i * n + j].re, from[i * n + j].im};
  return m;
}

void stop_all(State& s, StopReason reason) {
  for (int v = 0; v < s.vectors; ++v) s.stop(v, s.pending[v] != StopReason::running ? s.pending[v] : reason);
  s.settle();
}

/// B = Q S with T = the right inverse of S, Q = B T, from G = B^+ B.
struct Factors {
  Matrix t, s;
};

/// Columns are first brought to one length, so that a small one is not taken for a dependent one; then G = V L V^+, T =
/// V L^(-1/2) on the directions with L above resolution^2 of the largest.
Factors factorise(const Matrix& gram, double resolution) {
  const Eigen::Index n = gram.rows();
  Eigen::VectorXd length(n);
  for (Eigen::Index v = 0; v < n; ++v) length(v) = gram(v, v).real() > 0 ? std::sqrt(gram(v, v).real()) : 1.0;
  const Eigen::VectorXd inverse = length.cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(inverse.asDiagonal() * gram * inverse.asDiagonal());
  const double largest = eigen.eigenvalues()(n - 1);
  Eigen::VectorXd root = Eigen::VectorXd::Zero(n), over_root = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i)
    if (eigen.eigenvalues()(i) > resolution * resolution * largest) {
      root(i) = std::sqrt(eigen.eigenvalues()(i));
      over_root(i) = 1 / root(i);
    }
  return {inverse.asDiagonal() * eigen.eigenvectors() * over_root.asDiagonal(),
          root.asDiagonal() * eigen.eigenvectors().adjoint() * length.asDiagonal()};
}

}  // namespace

void Begin::run(State& s, const double* gram) {
  const Matrix g = hermitian(gram, s.vectors);
  for (int v = 0; v < s.vectors; ++v) s.check_start(v, g(v, v).real());
  if (!g.allFinite()) return stop_all(s, StopReason::not_finite);
  s.settle();
  for (int v = 0; v < s.vectors; ++v) s.stopped[v] = s.status.stop != 0 ? s.stopped[v] : 0;  // they end together
  const Factors factors = factorise(g, s.resolution);
  store(s.orthonormal, factors.t);
  store(s.c, factors.s);
}

void Alpha::run(State& s, const double* gram) {
  const Matrix g = hermitian(gram, s.vectors);
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
  store(s.solution, alpha * load(s.c, s.vectors));
}

void Orthonormalise::run(State& s, const double* gram) {
  const Matrix g = hermitian(gram, s.vectors);
  if (!g.allFinite()) return stop_all(s, StopReason::not_finite);
  const Factors factors = factorise(g, s.resolution);
  const Matrix c = factors.s * load(s.c, s.vectors);
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
