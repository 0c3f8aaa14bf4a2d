#pragma once
// Fermion fields of the whole lattice and their vector algebra.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/linalg.hpp"

#include <cstdint>
#include <vector>

namespace quarkstar::reference {

/// psi[site][spin][colour], lexicographic sites; spins = 4 (Wilson) or 1 (staggered).
struct Field {
  Coord extents{};
  int spins = 4;
  std::vector<Complex> data;

  Field() = default;
  Field(const Coord& extents_, int spins_);

  std::int64_t sites() const { return volume(extents); }
  int components() const { return 3 * spins; }
  Complex& operator()(std::int64_t site, int spin, int colour) { return data[(site * spins + spin) * 3 + colour]; }
  const Complex& operator()(std::int64_t site, int spin, int colour) const { return data[(site * spins + spin) * 3 + colour]; }
  /// The colour vector of one spin at one site.
  Vector<3> colour_vector(std::int64_t site, int spin) const;
};
/// Complex normal components; same seed, same field.
Field random_field(const Coord& extents, int spins, std::uint64_t seed);

/// The source of golden.json: sin(0.37 i + 1.1 c + 0.2) + i cos(0.23 i - 0.7 c + 0.5), i = site, c = 3*spin + colour.
Field golden_source(const Coord& extents, int spins);

/// 1 at one site, spin and colour.
Field point_source(const Coord& extents, int spins, const Coord& origin, int spin, int colour);

Field operator+(const Field& a, const Field& b);
Field operator-(const Field& a, const Field& b);
Field operator*(Complex scale, const Field& a);

/// sum conj(a) b
Complex inner(const Field& a, const Field& b);
double norm2(const Field& a);
/// max |a - b| over components
double max_difference(const Field& a, const Field& b);

/// The spin matrix applied at every site.
Field apply_spin(const Matrix<4>& spin_matrix, const Field& psi);

/// psi'(x) = g(x) psi(x).
Field transform(const Field& psi, const std::vector<Matrix<3>>& g);

/// psi repeated repeats[mu] times in every direction.
Field tile(const Field& psi, const Coord& repeats);

/// psi on the sites of one parity, zero elsewhere.
Field restrict_to_parity(const Field& psi, int parity);

}  // namespace quarkstar::reference
