#pragma once
// Domain-wall and Moebius fermions (docs/conventions.md, section 13), slice by slice and with full gamma matrices.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/lattice.hpp"

#include <vector>

namespace quarkstar::reference {

/// A spinor field for each slice s of the fifth dimension.
using Slices = std::vector<Field>;

Slices random_slices(const Coord& extents, std::size_t ls, std::uint64_t seed);
Complex inner(const Slices& a, const Slices& b);
double norm2(const Slices& a);
double max_difference(const Slices& a, const Slices& b);
Slices restrict_to_parity(const Slices& psi, int parity);

/// D5 psi = (b_s D_W + 1) psi_s + (c_s D_W - 1) (L psi)_s with D_W = 1 - M5 + 3 nu / xi0 - H / 2, hops in space times nu / xi0, and
/// (L psi)_s = P- psi_{s+1} + P+ psi_{s-1}, where the terms that wrap around have the factor -m.
class DomainWall {
 public:
  struct Parameters {
    double m5, mass;
    std::vector<double> b5, c5;  ///< of each slice
    double nu = 1, xi0 = 1;
    Boundary boundary = {};
  };
  DomainWall(const HostGauge& gauge, Parameters parameters);

  Slices apply(const Slices& psi) const;
  Slices apply_dagger(const Slices& psi) const;

  /// M_oo - M_oe M_ee^-1 M_eo on odd sites, or M_oo^-1 times that; the adjoint where `dagger`.
  Slices even_odd(const Slices& odd, bool symmetric, bool dagger) const;

  /// b_0 = D_- P+ eta, b_{Ls-1} = D_- P- eta with D_- = 1 - c5 D_W; others 0.
  Slices source(const Field& eta) const;
  /// q = P- x_0 + P+ x_{Ls-1}.
  Field physical(const Slices& x) const;
  /// P+ x_{Ls/2-1} + P- x_{Ls/2}.
  Field midpoint(const Slices& x) const;

  Field wilson(const Field& psi, bool dagger = false) const;

 private:
  std::size_t ls() const { return p_.b5.size(); }
  Field hop(const Field& psi, bool dagger) const;
  Slices combine(const Slices& psi, bool dagger) const;
  Slices site(const Slices& psi, bool dagger) const;
  Slices site_inverse(const Slices& psi, bool dagger) const;
  Slices to_other_parity(const Slices& psi, bool dagger) const;
  double link(std::size_t row, std::size_t column, int chirality) const;

  HostGauge scaled_;
  Parameters p_;
  double diagonal_;
};

}  // namespace quarkstar::reference
