#pragma once
// Wilson's Dirac operator (docs/conventions.md, section 1) with full gamma matrices.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/lattice.hpp"

namespace quarkstar::reference {

/// H psi(x) = sum_mu [(1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu^+(x-mu) psi(x-mu)]; a hop across the boundary
/// carries e^{i theta_mu} forward and e^{-i theta_mu} backward.
Field hop(const HostGauge& gauge, const Field& psi, const Boundary& boundary = {}, Basis basis = Basis::degrand_rossi);

/// H^+: the same with the signs of g_mu exchanged.
Field hop_dagger(const HostGauge& gauge, const Field& psi, const Boundary& boundary = {}, Basis basis = Basis::degrand_rossi);

/// H psi on the sites of one parity, zero elsewhere: H_eo psi_o for parity 0, H_oe psi_e for parity 1.
Field hop_parity(const HostGauge& gauge, const Field& psi, int parity, const Boundary& boundary = {}, Basis basis = Basis::degrand_rossi);
Field hop_dagger_parity(const HostGauge& gauge, const Field& psi, int parity, const Boundary& boundary = {},
                        Basis basis = Basis::degrand_rossi);

/// D psi = psi - kappa H psi.
Field wilson(const HostGauge& gauge, double kappa, const Field& psi, const Boundary& boundary = {}, Basis basis = Basis::degrand_rossi);

/// D^+ psi = psi - kappa H^+ psi.
Field wilson_dagger(const HostGauge& gauge, double kappa, const Field& psi, const Boundary& boundary = {},
                    Basis basis = Basis::degrand_rossi);

}  // namespace quarkstar::reference
