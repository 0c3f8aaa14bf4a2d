#pragma once
// The small dense matrices between products of vectors: on the host, in double precision, by the library Eigen. Its arithmetic is compiled
// once, for the instructions that every machine of this build has, so the bits are the same on all of them; a build for another
// architecture, whose vector registers group sums differently, may differ in the last digits.
#include "codelets/field/gram.hpp"

#include <Eigen/Core>

#include <complex>

namespace quarkstar {

using SmallMatrix = Eigen::MatrixXcd;

/// n^2 sums of blas::gram() as a hermitian matrix.
SmallMatrix hermitian_of_gram(const double* gram, int n);
/// Sums of blas::products() as a matrix of so many rows.
SmallMatrix matrix_of_products(const double* products, int rows, int columns);

/// Row-major, as the states of recurrences and blas::VectorMatrix have them.
void store(runtime::ComplexScalar* to, const SmallMatrix& m);
SmallMatrix load(const runtime::ComplexScalar* from, int rows, int columns);

/// Vectors B = Q S with orthonormal Q = B T, from their Gram matrix B^+ B. Directions whose norm is at most `resolution` of the largest
/// are left out: columns of T and rows of S that are zero. Columns are first brought to one length, so that a short one is not taken for a
/// dependent one.
struct OrthonormalFactors {
  SmallMatrix t, s;
  int rank;
  double smallest;  ///< norm of the shortest direction that is left, in units of the longest
};
OrthonormalFactors orthonormal_factors(const SmallMatrix& gram, double resolution);

/// A = vectors diag(values) vectors^+, values ascending; of a hermitian A, whose upper triangle is read.
struct HermitianEigenpairs {
  Eigen::VectorXd values;
  SmallMatrix vectors;
};
HermitianEigenpairs hermitian_eigenpairs(const SmallMatrix& a);

}  // namespace quarkstar
