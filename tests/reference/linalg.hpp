#pragma once
// Small dense complex matrices, written as the textbook writes them.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

namespace quarkstar::reference {

using Complex = std::complex<double>;
inline constexpr Complex imaginary_unit{0.0, 1.0};

template <int N>
using Vector = std::array<Complex, N>;

/// N x N complex matrix, row-major; zero when default constructed.
template <int N>
struct Matrix {
  std::array<Complex, N * N> entries{};

  Complex& operator()(int row, int col) { return entries[row * N + col]; }
  const Complex& operator()(int row, int col) const { return entries[row * N + col]; }

  static Matrix identity() {
    Matrix one;
    for (int i = 0; i < N; ++i) one(i, i) = 1.0;
    return one;
  }
};

template <int N>
Matrix<N> operator*(const Matrix<N>& a, const Matrix<N>& b) {
  Matrix<N> product;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < N; ++k) product(i, j) += a(i, k) * b(k, j);
  return product;
}

template <int N>
Vector<N> operator*(const Matrix<N>& a, const std::type_identity_t<Vector<N>>& v) {
  Vector<N> product{};
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k) product[i] += a(i, k) * v[k];
  return product;
}

template <int N>
Matrix<N> operator*(Complex scale, const Matrix<N>& a) {
  Matrix<N> product = a;
  for (Complex& entry : product.entries) entry *= scale;
  return product;
}

template <int N>
Matrix<N> operator+(const Matrix<N>& a, const Matrix<N>& b) {
  Matrix<N> sum = a;
  for (int i = 0; i < N * N; ++i) sum.entries[i] += b.entries[i];
  return sum;
}

template <int N>
Matrix<N> operator-(const Matrix<N>& a, const Matrix<N>& b) {
  return a + Complex{-1.0} * b;
}

template <int N>
Matrix<N> adjoint(const Matrix<N>& a) {
  Matrix<N> dagger;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) dagger(i, j) = std::conj(a(j, i));
  return dagger;
}

template <int N>
Complex trace(const Matrix<N>& a) {
  Complex sum = 0.0;
  for (int i = 0; i < N; ++i) sum += a(i, i);
  return sum;
}

/// sum_ij |a_ij|^2
template <int N>
double norm2(const Matrix<N>& a) {
  double sum = 0.0;
  for (const Complex& entry : a.entries) sum += std::norm(entry);
  return sum;
}

/// max_ij |a_ij - b_ij|
template <int N>
double max_difference(const Matrix<N>& a, const Matrix<N>& b) {
  double largest = 0.0;
  for (int i = 0; i < N * N; ++i) largest = std::max(largest, std::abs(a.entries[i] - b.entries[i]));
  return largest;
}

/// Tensor product of a spin matrix with a colour matrix; index = 3*spin + colour.
inline Matrix<12> spin_times_colour(const Matrix<4>& spin, const Matrix<3>& colour) {
  Matrix<12> product;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) product(i, j) = spin(i / 3, j / 3) * colour(i % 3, j % 3);
  return product;
}

/// Inverse and determinant in one Gauss-Jordan elimination with row pivoting; a singular matrix has determinant 0 and
/// an inverse that is not finite.
template <int N>
std::pair<Matrix<N>, Complex> inverse_and_determinant(Matrix<N> a) {
  Matrix<N> inverse = Matrix<N>::identity();
  Complex determinant = 1.0;
  for (int col = 0; col < N; ++col) {
    int pivot = col;
    for (int row = col + 1; row < N; ++row)
      if (std::abs(a(row, col)) > std::abs(a(pivot, col))) pivot = row;
    if (pivot != col) {
      determinant = -determinant;
      for (int j = 0; j < N; ++j) {
        std::swap(a(pivot, j), a(col, j));
        std::swap(inverse(pivot, j), inverse(col, j));
      }
    }
    determinant *= a(col, col);
    const Complex scale = 1.0 / a(col, col);
    for (int j = 0; j < N; ++j) {
      a(col, j) *= scale;
      inverse(col, j) *= scale;
    }
    for (int row = 0; row < N; ++row) {
      if (row == col) continue;
      const Complex factor = a(row, col);
      for (int j = 0; j < N; ++j) {
        a(row, j) -= factor * a(col, j);
        inverse(row, j) -= factor * inverse(col, j);
      }
    }
  }
  return {inverse, determinant};
}

template <int N>
Matrix<N> inverse(const Matrix<N>& a) {
  return inverse_and_determinant(a).first;
}

template <int N>
Complex determinant(const Matrix<N>& a) {
  return inverse_and_determinant(a).second;
}

}  // namespace quarkstar::reference
