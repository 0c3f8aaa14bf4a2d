#include "tests/reference/domain_wall.hpp"

#include "tests/reference/wilson.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar::reference {
namespace {

/// Rows of spin with gamma_5 = +1 (chirality 0) or -1 (1).
Field projected(const Field& psi, int chirality) {
  Matrix<4> projector;
  const Matrix<4> g5 = gamma5(Basis::degrand_rossi);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) projector(i, j) = 0.5 * ((i == j ? 1.0 : 0.0) + (chirality == 0 ? 1.0 : -1.0) * g5(i, j));
  return apply_spin(projector, psi);
}

using Real = std::vector<std::vector<double>>;

/// Gauss-Jordan elimination with exchanges of rows.
Real inverse(Real a) {
  const std::size_t n = a.size();
  Real result(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    std::swap(a[pivot], a[column]);
    std::swap(result[pivot], result[column]);
    const double scale = 1 / a[column][column];
    for (std::size_t j = 0; j < n; ++j) {
      a[column][j] *= scale;
      result[column][j] *= scale;
    }
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t j = 0; j < n; ++j) {
        a[row][j] -= factor * a[column][j];
        result[row][j] -= factor * result[column][j];
      }
    }
  }
  return result;
}

/// out_s = sum of T_ss' of a chirality times psi_s' of it.
Slices multiply(const Real (&matrix)[2], const Slices& psi, bool transposed) {
  Slices out(psi.size(), Field(psi[0].extents, 4));
  for (const int chirality : {0, 1})
    for (std::size_t from = 0; from < psi.size(); ++from) {
      const Field part = projected(psi[from], chirality);
      for (std::size_t to = 0; to < psi.size(); ++to)
        out[to] = out[to] + (transposed ? matrix[chirality][from][to] : matrix[chirality][to][from]) * part;
    }
  return out;
}

}  // namespace

Slices random_slices(const Coord& extents, std::size_t ls, std::uint64_t seed) {
  Slices slices;
  for (std::size_t s = 0; s < ls; ++s) slices.push_back(random_field(extents, 4, seed + s));
  return slices;
}
Complex inner(const Slices& a, const Slices& b) {
  Complex sum = 0;
  for (std::size_t s = 0; s < a.size(); ++s) sum += inner(a[s], b[s]);
  return sum;
}
double norm2(const Slices& a) {
  double sum = 0;
  for (const Field& slice : a) sum += norm2(slice);
  return sum;
}
double max_difference(const Slices& a, const Slices& b) {
  double most = 0;
  for (std::size_t s = 0; s < a.size(); ++s) most = std::max(most, max_difference(a[s], b[s]));
  return most;
}
Slices restrict_to_parity(const Slices& psi, int parity) {
  Slices restricted;
  for (const Field& slice : psi) restricted.push_back(restrict_to_parity(slice, parity));
  return restricted;
}

DomainWall::DomainWall(const HostGauge& gauge, Parameters parameters)
    : scaled_(gauge), p_(std::move(parameters)), diagonal_(1 - p_.m5 + 3 * p_.nu / p_.xi0) {
  for (std::int64_t x = 0; x < volume(gauge.extents); ++x)
    for (int mu = 0; mu < 3; ++mu)
      for (double& real : scaled_.link(x, mu)) real *= p_.nu / p_.xi0;
}

Field DomainWall::hop(const Field& psi, bool dagger) const {
  return dagger ? hop_dagger(scaled_, psi, p_.boundary) : reference::hop(scaled_, psi, p_.boundary);
}

Field DomainWall::wilson(const Field& psi, bool dagger) const { return diagonal_ * psi - 0.5 * hop(psi, dagger); }

/// L of one chirality.
double DomainWall::link(std::size_t row, std::size_t column, int chirality) const {
  const std::size_t last = ls() - 1;
  if (chirality == 0) return row == 0 ? (column == last ? -p_.mass : 0) : column + 1 == row ? 1 : 0;
  return row == last ? (column == 0 ? -p_.mass : 0) : column == row + 1 ? 1 : 0;
}

/// b5 + c5 L.
Slices DomainWall::combine(const Slices& psi, bool dagger) const {
  Real matrix[2] = {Real(ls(), std::vector<double>(ls(), 0)), Real(ls(), std::vector<double>(ls(), 0))};
  for (const int chirality : {0, 1})
    for (std::size_t i = 0; i < ls(); ++i)
      for (std::size_t j = 0; j < ls(); ++j) matrix[chirality][i][j] = (i == j ? p_.b5[i] : 0) + p_.c5[i] * link(i, j, chirality);
  return multiply(matrix, psi, dagger);
}

namespace {
template <class Link>
void fill_site(Real (&matrix)[2], const DomainWall::Parameters& p, double diagonal, Link&& link) {
  const std::size_t ls = p.b5.size();
  for (const int chirality : {0, 1}) {
    matrix[chirality] = Real(ls, std::vector<double>(ls, 0));
    for (std::size_t i = 0; i < ls; ++i)
      for (std::size_t j = 0; j < ls; ++j)
        matrix[chirality][i][j] = (i == j ? p.b5[i] * diagonal + 1 : 0) + (p.c5[i] * diagonal - 1) * link(i, j, chirality);
  }
}
}  // namespace

Slices DomainWall::site(const Slices& psi, bool dagger) const {
  Real matrix[2];
  fill_site(matrix, p_, diagonal_, [&](std::size_t i, std::size_t j, int chirality) { return link(i, j, chirality); });
  return multiply(matrix, psi, dagger);
}
Slices DomainWall::site_inverse(const Slices& psi, bool dagger) const {
  Real matrix[2];
  fill_site(matrix, p_, diagonal_, [&](std::size_t i, std::size_t j, int chirality) { return link(i, j, chirality); });
  for (Real& of_chirality : matrix) of_chirality = inverse(of_chirality);
  return multiply(matrix, psi, dagger);
}

/// -1/2 H (b5 + c5 L), or its adjoint; fields of one parity lead to the other.
Slices DomainWall::to_other_parity(const Slices& psi, bool dagger) const {
  Slices out = dagger ? psi : combine(psi, false);
  for (Field& slice : out) slice = Complex(-0.5) * hop(slice, dagger);
  return dagger ? combine(out, true) : out;
}

Slices DomainWall::apply(const Slices& psi) const {
  Slices out = site(psi, false);
  const Slices hops = to_other_parity(psi, false);
  for (std::size_t s = 0; s < ls(); ++s) out[s] = out[s] + hops[s];
  return out;
}
Slices DomainWall::apply_dagger(const Slices& psi) const {
  Slices out = site(psi, true);
  const Slices hops = to_other_parity(psi, true);
  for (std::size_t s = 0; s < ls(); ++s) out[s] = out[s] + hops[s];
  return out;
}

Slices DomainWall::even_odd(const Slices& odd, bool symmetric, bool dagger) const {
  const Slices begin = symmetric && dagger ? site_inverse(odd, true) : odd;
  Slices hops = to_other_parity(site_inverse(to_other_parity(begin, dagger), dagger), dagger);
  if (symmetric && !dagger) hops = site_inverse(hops, false);
  Slices out = symmetric ? odd : site(odd, dagger);
  for (std::size_t s = 0; s < ls(); ++s) out[s] = out[s] - hops[s];
  return out;
}

Slices DomainWall::source(const Field& eta) const {
  Slices b(ls(), Field(eta.extents, 4));
  b.front() = projected(eta, 0);
  b.back() = b.back() + projected(eta, 1);
  for (std::size_t s : {std::size_t{0}, ls() - 1}) b[s] = b[s] - p_.c5[s] * wilson(b[s]);
  return b;
}
Field DomainWall::physical(const Slices& x) const { return projected(x.front(), 1) + projected(x.back(), 0); }
Field DomainWall::midpoint(const Slices& x) const { return projected(x[ls() / 2 - 1], 0) + projected(x[ls() / 2], 1); }

}  // namespace quarkstar::reference
