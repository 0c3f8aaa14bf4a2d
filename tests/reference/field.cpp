#include "tests/reference/field.hpp"

#include "runtime/system/error.hpp"
#include "tests/reference/lattice.hpp"
#include "tests/reference/random.hpp"

#include <algorithm>

namespace quarkstar::reference {
namespace {

void require_same_shape(const Field& a, const Field& b) {
  if (a.extents != b.extents || a.spins != b.spins)
    throw ShapeError("reference::Field", "two fields of different extents or spins in one expression");
}

}  // namespace

Field::Field(const Coord& extents_, int spins_) : extents(extents_), spins(spins_), data(volume(extents_) * 3 * spins_) {}

Vector<3> Field::colour_vector(std::int64_t site, int spin) const {
  return {(*this)(site, spin, 0), (*this)(site, spin, 1), (*this)(site, spin, 2)};
}

Field random_field(const Coord& extents, int spins, std::uint64_t seed) {
  Field psi(extents, spins);
  Random random(seed);
  for (Complex& component : psi.data) component = random.normal();
  return psi;
}

Field golden_source(const Coord& extents, int spins) {
  Field psi(extents, spins);
  for (std::int64_t i = 0; i < psi.sites(); ++i) {
    const double site = static_cast<double>(i);
    for (int c = 0; c < psi.components(); ++c)
      psi(i, c / 3, c % 3) = {std::sin(0.37 * site + 1.1 * c + 0.2), std::cos(0.23 * site - 0.7 * c + 0.5)};
  }
  return psi;
}

Field point_source(const Coord& extents, int spins, const Coord& origin, int spin, int colour) {
  Field psi(extents, spins);
  psi(lexicographic(origin, extents), spin, colour) = 1.0;
  return psi;
}

Field operator+(const Field& a, const Field& b) {
  require_same_shape(a, b);
  Field sum = a;
  for (std::size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += b.data[i];
  return sum;
}

Field operator-(const Field& a, const Field& b) { return a + Complex{-1.0} * b; }

Field operator*(Complex scale, const Field& a) {
  Field product = a;
  for (Complex& component : product.data) component *= scale;
  return product;
}

Complex inner(const Field& a, const Field& b) {
  require_same_shape(a, b);
  Complex sum = 0.0;
  for (std::size_t i = 0; i < a.data.size(); ++i) sum += std::conj(a.data[i]) * b.data[i];
  return sum;
}

double norm2(const Field& a) { return inner(a, a).real(); }

double max_difference(const Field& a, const Field& b) {
  require_same_shape(a, b);
  double largest = 0.0;
  for (std::size_t i = 0; i < a.data.size(); ++i) largest = std::max(largest, std::abs(a.data[i] - b.data[i]));
  return largest;
}

Field apply_spin(const Matrix<4>& spin_matrix, const Field& psi) {
  Field result(psi.extents, 4);
  for (std::int64_t site = 0; site < psi.sites(); ++site)
    for (int s = 0; s < 4; ++s)
      for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 3; ++c) result(site, s, c) += spin_matrix(s, r) * psi(site, r, c);
  return result;
}

Field transform(const Field& psi, const std::vector<Matrix<3>>& g) {
  Field result(psi.extents, psi.spins);
  for (std::int64_t site = 0; site < psi.sites(); ++site) {
    for (int s = 0; s < psi.spins; ++s) {
      const Vector<3> rotated = g[site] * psi.colour_vector(site, s);
      for (int c = 0; c < 3; ++c) result(site, s, c) = rotated[c];
    }
  }
  return result;
}

Field tile(const Field& psi, const Coord& repeats) {
  Coord extents;
  for (int mu = 0; mu < 4; ++mu) extents[mu] = psi.extents[mu] * repeats[mu];
  Field tiled(extents, psi.spins);
  for (std::int64_t site = 0; site < tiled.sites(); ++site) {
    Coord x = coordinates(site, extents);
    for (int mu = 0; mu < 4; ++mu) x[mu] %= psi.extents[mu];
    const std::int64_t origin = lexicographic(x, psi.extents);
    for (int s = 0; s < psi.spins; ++s)
      for (int c = 0; c < 3; ++c) tiled(site, s, c) = psi(origin, s, c);
  }
  return tiled;
}

Field restrict_to_parity(const Field& psi, int parity_kept) {
  Field result = psi;
  for (std::int64_t site = 0; site < psi.sites(); ++site) {
    if (parity(coordinates(site, psi.extents)) == parity_kept) continue;
    for (int s = 0; s < psi.spins; ++s)
      for (int c = 0; c < 3; ++c) result(site, s, c) = 0.0;
  }
  return result;
}

}  // namespace quarkstar::reference
