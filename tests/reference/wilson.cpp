#include "tests/reference/wilson.hpp"

#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"

#include <optional>

namespace quarkstar::reference {
namespace {

/// result(site) += phase * spin_matrix (x) u * psi(neighbour)
void add_hop(Field& result, std::int64_t site, Complex phase, const Matrix<4>& spin_matrix, const Matrix<3>& u, const Field& psi,
             std::int64_t neighbour) {
  std::array<Vector<3>, 4> transported;
  for (int s = 0; s < 4; ++s) transported[s] = u * psi.colour_vector(neighbour, s);
  for (int s = 0; s < 4; ++s)
    for (int r = 0; r < 4; ++r) {
      if (spin_matrix(s, r) == Complex{0}) continue;  // half of them
      const Complex factor = phase * spin_matrix(s, r);
      for (int c = 0; c < 3; ++c) result(site, s, c) += factor * transported[r][c];
    }
}

/// sum_mu [(1 - sign g_mu) U_mu(x) psi(x+mu) + (1 + sign g_mu) U_mu^+(x-mu) psi(x-mu)], at the sites of one parity or
/// all.
Field signed_hop(const HostGauge& gauge, const Field& psi, const Boundary& boundary, Basis basis, double sign,
                 std::optional<int> only_parity) {
  const Coord& extents = gauge.extents;
  if (psi.extents != extents || psi.spins != 4)
    throw ShapeError("reference::hop", "the spinor's extents or spins differ from the gauge field's");
  std::array<Matrix<4>, 4> forward;
  std::array<Matrix<4>, 4> backward;
  for (int mu = 0; mu < 4; ++mu) {
    forward[mu] = Matrix<4>::identity() - Complex{sign} * gamma(basis, mu);
    backward[mu] = Matrix<4>::identity() + Complex{sign} * gamma(basis, mu);
  }
  Field result(extents, 4);
  for (std::int64_t site = 0; site < result.sites(); ++site) {
    const Coord x = coordinates(site, extents);
    if (only_parity && parity(x) != *only_parity) continue;
    for (int mu = 0; mu < 4; ++mu) {
      const std::int64_t next = lexicographic(step(x, mu, +1, extents), extents);
      const std::int64_t previous = lexicographic(step(x, mu, -1, extents), extents);
      add_hop(result, site, boundary.forward(x, mu, extents), forward[mu], link(gauge, site, mu), psi, next);
      add_hop(result, site, boundary.backward(x, mu), backward[mu], adjoint(link(gauge, previous, mu)), psi, previous);
    }
  }
  return result;
}

}  // namespace

Field hop(const HostGauge& gauge, const Field& psi, const Boundary& boundary, Basis basis) {
  return signed_hop(gauge, psi, boundary, basis, +1.0, std::nullopt);
}

Field hop_dagger(const HostGauge& gauge, const Field& psi, const Boundary& boundary, Basis basis) {
  return signed_hop(gauge, psi, boundary, basis, -1.0, std::nullopt);
}

Field hop_parity(const HostGauge& gauge, const Field& psi, int parity, const Boundary& boundary, Basis basis) {
  return signed_hop(gauge, psi, boundary, basis, +1.0, parity);
}

Field hop_dagger_parity(const HostGauge& gauge, const Field& psi, int parity, const Boundary& boundary, Basis basis) {
  return signed_hop(gauge, psi, boundary, basis, -1.0, parity);
}

Field wilson(const HostGauge& gauge, double kappa, const Field& psi, const Boundary& boundary, Basis basis) {
  return psi - kappa * hop(gauge, psi, boundary, basis);
}

Field wilson_dagger(const HostGauge& gauge, double kappa, const Field& psi, const Boundary& boundary, Basis basis) {
  return psi - kappa * hop_dagger(gauge, psi, boundary, basis);
}

}  // namespace quarkstar::reference
