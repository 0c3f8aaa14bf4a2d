#include "solvers/multigrid/smoother.hpp"

#include <cmath>
#include <utility>

namespace quarkstar {
namespace {

/// sum_v Re <a_v, b_v>.
double product(const Field& a, const Field& b) {
  const runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()), 2 * a.vectors());
  blas::submit<blas::Dot>({&b, &a}, {}, {}, &sums);
  const std::vector<double> values = runtime::values_of(sums, 2 * a.vectors());
  double sum = 0;
  for (int v = 0; v < a.vectors(); ++v) sum += values[static_cast<std::size_t>(v)];
  return sum;
}

}  // namespace

std::vector<double> minimal_residual_polynomial(LinearOperator& a, const Field& r, int m) {
  const auto count = static_cast<std::size_t>(m);
  std::vector<Field> powers;                                                   // A r, ..., A^m r
  std::vector<std::vector<double>> factor(count, std::vector<double>(count));  // lower triangle: Cholesky's of their products
  std::vector<double> solution(count);
  std::size_t rank = 0;
  for (std::size_t i = 0; i < count; ++i, ++rank) {
    powers.push_back(a.field());
    a.apply(powers[i], i == 0 ? r : powers[i - 1], {}, false, {});
    for (std::size_t j = 0; j <= i; ++j) factor[i][j] = product(powers[i], powers[j]);
    solution[i] = product(powers[i], r);
    const double length2 = factor[i][i];
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) factor[i][j] -= factor[i][k] * factor[j][k];
      if (j < i) factor[i][j] /= factor[j][j];
    }
    constexpr double nothing = 1e-10;  // of its square a power has beside those before it
    if (!(factor[i][i] > nothing * length2)) break;
    factor[i][i] = std::sqrt(factor[i][i]);
    for (std::size_t k = 0; k < i; ++k) solution[i] -= factor[i][k] * solution[k];
    solution[i] /= factor[i][i];
  }
  solution.resize(rank);
  for (std::size_t i = rank; i-- > 0;) {
    for (std::size_t k = i + 1; k < rank; ++k) solution[i] -= factor[k][i] * solution[k];
    solution[i] /= factor[i][i];
  }
  return solution;
}

Smoother::Smoother(LinearOperator& a, std::vector<double> polynomial)
    : a_(a), polynomial_(std::move(polynomial)), sums_{a.field(), a.field()} {}

void Smoother::apply(const Field& x, const Field& r, const runtime::Guard& guard) const {
  runtime::Guard within = guard;  // of fields that nobody reads later
  within.keeps = false;
  // s_m = r,  s_i = r + (c_(i+1) / c_i) A s_(i+1),  x += c_1 s_1
  const Field* sum = &r;
  for (std::size_t i = polynomial_.size(); i-- > 1;) {
    const Field& next = sums_[i % 2];
    a_.apply(next, *sum, {}, false, within);
    blas::submit<blas::Direction>({&next, &r}, {polynomial_[i] / polynomial_[i - 1]}, within);
    sum = &next;
  }
  if (!polynomial_.empty()) blas::submit<blas::AddScaled>({&x, sum}, {polynomial_[0]}, guard);
}

}  // namespace quarkstar
