#include "codelets/actions/domain_wall/slice_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace quarkstar::domain_wall {

SliceMatrix::SliceMatrix(int slices) : slices_(slices) {
  for (std::vector<double>& numbers : numbers_) numbers.assign(static_cast<std::size_t>(slices * slices), 0);
}

SliceMatrix SliceMatrix::diagonal(const std::vector<double>& values) {
  SliceMatrix matrix(static_cast<int>(values.size()));
  for (int chirality = 0; chirality < chiralities; ++chirality)
    for (int s = 0; s < matrix.slices(); ++s) matrix.at(chirality, s, s) = values[static_cast<std::size_t>(s)];
  return matrix;
}

SliceMatrix SliceMatrix::transposed() const {
  SliceMatrix result(slices_);
  for (int chirality = 0; chirality < chiralities; ++chirality)
    for (int i = 0; i < slices_; ++i)
      for (int j = 0; j < slices_; ++j) result.at(chirality, i, j) = at(chirality, j, i);
  return result;
}

SliceMatrix operator*(const SliceMatrix& a, const SliceMatrix& b) {
  SliceMatrix product(a.slices());
  for (int chirality = 0; chirality < SliceMatrix::chiralities; ++chirality)
    for (int i = 0; i < a.slices(); ++i)
      for (int j = 0; j < a.slices(); ++j)
        for (int k = 0; k < a.slices(); ++k) product.at(chirality, i, j) += a.at(chirality, i, k) * b.at(chirality, k, j);
  return product;
}

SliceMatrix SliceMatrix::inverse() const {
  SliceMatrix a = *this, result = identity(slices_);
  for (int chirality = 0; chirality < chiralities; ++chirality)
    for (int column = 0; column < slices_; ++column) {
      int pivot = column;
      for (int row = column + 1; row < slices_; ++row)
        if (std::abs(a.at(chirality, row, column)) > std::abs(a.at(chirality, pivot, column))) pivot = row;
      for (int j = 0; pivot != column && j < slices_; ++j) {
        std::swap(a.at(chirality, pivot, j), a.at(chirality, column, j));
        std::swap(result.at(chirality, pivot, j), result.at(chirality, column, j));
      }
      const double scale = 1 / a.at(chirality, column, column);
      for (int j = 0; j < slices_; ++j) {
        a.at(chirality, column, j) *= scale;
        result.at(chirality, column, j) *= scale;
      }
      for (int row = 0; row < slices_; ++row) {
        const double factor = a.at(chirality, row, column);
        if (row == column || factor == 0) continue;
        for (int j = 0; j < slices_; ++j) {
          a.at(chirality, row, j) -= factor * a.at(chirality, column, j);
          result.at(chirality, row, j) -= factor * result.at(chirality, column, j);
        }
      }
    }
  return result;
}

double SliceMatrix::norm() const {
  double most = 0;
  for (int chirality = 0; chirality < chiralities; ++chirality) {
    double rows = 0, columns = 0;
    for (int i = 0; i < slices_; ++i) {
      double row = 0, column = 0;
      for (int j = 0; j < slices_; ++j) {
        row += std::abs(at(chirality, i, j));
        column += std::abs(at(chirality, j, i));
      }
      if (!std::isfinite(row + column)) return std::numeric_limits<double>::quiet_NaN();
      rows = std::max(rows, row);
      columns = std::max(columns, column);
    }
    most = std::max(most, std::sqrt(rows * columns));
  }
  return most;
}

bool SliceMatrix::is_diagonal() const {
  for (int chirality = 0; chirality < chiralities; ++chirality)
    for (int i = 0; i < slices_; ++i)
      for (int j = 0; j < slices_; ++j)
        if (at(chirality, i, j) != (i == j ? at(0, i, i) : 0)) return false;
  return true;
}

SliceMatrix with_neighbours(const std::vector<double>& d, const std::vector<double>& e, double mass) {
  SliceMatrix matrix = SliceMatrix::diagonal(d);
  const int slices = matrix.slices();
  for (int s = 0; s < slices; ++s) {
    const double factor = e[static_cast<std::size_t>(s)];
    matrix.at(0, s, (s + slices - 1) % slices) += s == 0 ? -mass * factor : factor;
    matrix.at(1, s, (s + 1) % slices) += s == slices - 1 ? -mass * factor : factor;
  }
  return matrix;
}

SiteMatrices site_matrices(const Parameters& parameters, double mass) {
  const double a = parameters.diagonal(), h = parameters.half_hop();
  std::vector<double> d, e, hop, neighbour;
  for (std::size_t s = 0; s < parameters.b.size(); ++s) {
    const double b = parameters.b[s], c = parameters.c[s];
    d.push_back(b * a + 1);
    e.push_back(c * a - 1);
    hop.push_back(h * b);
    neighbour.push_back(h * c);
  }
  return {with_neighbours(d, e, mass), with_neighbours(hop, neighbour, mass)};
}

}  // namespace quarkstar::domain_wall
