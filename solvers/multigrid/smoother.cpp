#include "solvers/multigrid/smoother.hpp"

#include "codelets/field/norms.hpp"
#include "codelets/lattice/placement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar {
namespace {

/// sum_v Re <a_v, b_v>.
double product(const Field& a, const Field& b) {
  const runtime::PartialSums sums = partial_sums_on(*a.lattice(), 2 * a.vectors());
  blas::submit<blas::Dot>({&b, &a}, {}, {}, &sums);
  const std::vector<double> values = runtime::values_of(sums, 2 * a.vectors());
  double sum = 0;
  for (int v = 0; v < a.vectors(); ++v) sum += values[static_cast<std::size_t>(v)];
  return sum;
}

}  // namespace

std::vector<double> minimal_residual_polynomial(LinearOperator& a, const Field& r, int m, const Field* x) {
  const auto count = static_cast<std::size_t>(m);
  std::vector<Field> images;                                                   // q_i of A q_(i-1), q_0 = r, orthogonal to those before
  std::vector<Field> directions;                                               // A^-1 q_i
  std::vector<std::vector<double>> powers(count, std::vector<double>(count));  // A^-1 q_i = sum_k powers[i][k] A^k r
  std::vector<double> norm2(count), solution;
  if (x != nullptr) blas::submit<blas::Fill>({x}, {0.0});
  for (std::size_t i = 0; i < count; ++i) {
    images.push_back(a.field());
    const Field& q = images[i];
    a.apply(q, i == 0 ? r : images[i - 1], {}, false, {});
    if (i == 0) powers[0][0] = 1;
    else std::copy_n(powers[i - 1].begin(), i, powers[i].begin() + 1);
    const double whole = product(q, q);
    if (x != nullptr) blas::submit<blas::Scale>({&directions.emplace_back(a.field()), i == 0 ? &r : &images[i - 1]}, {1.0});
    for (std::size_t j = 0; j < i; ++j) {
      const double part = product(images[j], q) / norm2[j];
      blas::submit<blas::AddScaled>({&q, &images[j]}, {-part});
      if (x != nullptr) blas::submit<blas::AddScaled>({&directions[i], &directions[j]}, {-part});
      for (std::size_t k = 0; k <= j; ++k) powers[i][k] -= part * powers[j][k];
    }
    norm2[i] = product(q, q);
    constexpr double nothing = 1e-10;  // of its square an image has beside those before it
    if (!(norm2[i] > nothing * whole)) break;
    const double of_r = product(q, r) / norm2[i];
    solution.resize(i + 1);
    for (std::size_t k = 0; k <= i; ++k) solution[k] += of_r * powers[i][k];
    if (x != nullptr) blas::submit<blas::AddScaled>({x, &directions[i]}, {of_r});
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

void normalise(const Field& to, const Field& x) {
  const std::vector<double> norm2 = norms2(x);
  blas::submit<blas::Scale>({&to, &x}, {for_each_vector(norm2.size(), [&](std::size_t v) { return 1 / std::sqrt(norm2[v]); })});
}

NullVectorFilter::NullVectorFilter(LinearOperator& a, const Field& noise, int applications) {
  const int count = (applications + Smoother::most_degree - 1) / Smoother::most_degree;
  const Field filtered = a.field();
  for (int i = 0; i < count; ++i) {
    const int degree = applications * (i + 1) / count - applications * i / count;
    const bool last = i + 1 == count;
    polynomials_.push_back(minimal_residual_polynomial(a, noise, degree + 1, last ? nullptr : &filtered));
    if (!last) normalise(noise, filtered);
  }
}

void NullVectorFilter::apply(LinearOperator& a, const Field& to, const Field& from) const {
  const Field made = a.field();
  const Field* of = &from;
  for (const std::vector<double>& polynomial : polynomials_) {
    blas::submit<blas::Fill>({&made}, {0.0});
    Smoother(a, polynomial).apply(made, *of, {});
    normalise(to, made);
    of = &to;
  }
}

}  // namespace quarkstar
