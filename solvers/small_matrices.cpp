#include "solvers/small_matrices.hpp"

#include <Eigen/Eigenvalues>

#include <cmath>

namespace quarkstar {

SmallMatrix hermitian_of_gram(const double* gram, int n) {
  SmallMatrix m(n, n);
  for (int v = 0; v < n; ++v) {
    m(v, v) = gram[v * n + v];
    for (int w = v + 1; w < n; ++w) {
      m(v, w) = {gram[v * n + w], gram[w * n + v]};
      m(w, v) = std::conj(m(v, w));
    }
  }
  return m;
}

SmallMatrix matrix_of_products(const double* products, int rows, int columns) {
  SmallMatrix m(rows, columns);
  for (int v = 0; v < rows; ++v)
    for (int w = 0; w < columns; ++w) m(v, w) = {products[2 * (v * columns + w)], products[2 * (v * columns + w) + 1]};
  return m;
}

void store(runtime::ComplexScalar* to, const SmallMatrix& m) {
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index j = 0; j < m.cols(); ++j) to[i * m.cols() + j] = {m(i, j).real(), m(i, j).imag()};
}

SmallMatrix load(const runtime::ComplexScalar* from, int rows, int columns) {
  SmallMatrix m(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) m(i, j) = {from[i * columns + j].re, from[i * columns + j].im};
  return m;
}

OrthonormalFactors orthonormal_factors(const SmallMatrix& gram, double resolution) {
  const Eigen::Index n = gram.rows();
  Eigen::VectorXd length(n);
  for (Eigen::Index v = 0; v < n; ++v) length(v) = gram(v, v).real() > 0 ? std::sqrt(gram(v, v).real()) : 1.0;
  const Eigen::VectorXd inverse = length.cwiseInverse();
  // G = V L V^+:  T = V L^(-1/2)
  const Eigen::SelfAdjointEigenSolver<SmallMatrix> eigen(inverse.asDiagonal() * gram * inverse.asDiagonal());
  const double largest = eigen.eigenvalues()(n - 1);
  Eigen::VectorXd root = Eigen::VectorXd::Zero(n), over_root = Eigen::VectorXd::Zero(n);
  int rank = 0;
  double smallest = 1;
  for (Eigen::Index i = n; i-- > 0;)
    if (eigen.eigenvalues()(i) > resolution * resolution * largest) {
      root(i) = std::sqrt(eigen.eigenvalues()(i));
      over_root(i) = 1 / root(i);
      smallest = root(i) / std::sqrt(largest);
      ++rank;
    }
  return {inverse.asDiagonal() * eigen.eigenvectors() * over_root.asDiagonal(),
          root.asDiagonal() * eigen.eigenvectors().adjoint() * length.asDiagonal(), rank, smallest};
}

HermitianEigenpairs hermitian_eigenpairs(const SmallMatrix& a) {
  const SmallMatrix whole = a.selfadjointView<Eigen::Upper>();
  const Eigen::SelfAdjointEigenSolver<SmallMatrix> eigen(whole);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

}  // namespace quarkstar
