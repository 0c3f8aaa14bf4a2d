#pragma once
// Gauge configurations and their observables, link by link.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/lattice.hpp"
#include "tests/reference/linalg.hpp"

#include <cstdint>
#include <vector>

namespace quarkstar::reference {

Matrix<3> link(const HostGauge& gauge, std::int64_t site, int mu);
void set_link(HostGauge& gauge, std::int64_t site, int mu, const Matrix<3>& value);

/// U_mu(x) = 1.
HostGauge unit_gauge(const Coord& extents);

/// Every link an independent SU(3) matrix: complex normal entries, then reunitarize(). Same seed, same links.
HostGauge random_gauge(const Coord& extents, std::uint64_t seed);

/// Links reunitarize(1 + roughness * G), G complex normal: a smooth field on which solvers converge quickly.
HostGauge near_unit_gauge(const Coord& extents, std::uint64_t seed, double roughness);

/// Row 0 normalised; row 1 made orthogonal to it and normalised; row 2 = conj(row 0 x row 1), as MILC does
/// (docs/conventions.md, section 6).
Matrix<3> reunitarize(const Matrix<3>& u);
void reunitarize(HostGauge& gauge);

/// Means of Re tr U_p / 3 over the three spatial and over the three temporal planes.
struct Plaquettes {
  double spatial;
  double temporal;
};
Plaquettes plaquettes(const HostGauge& gauge);

/// Mean of Re tr U / 3 over all links.
double link_trace(const HostGauge& gauge);

/// max over links of max_ij |(U U^+ - 1)_ij| and |det U - 1|.
double unitarity_deviation(const HostGauge& gauge);

/// One random SU(3) matrix g(x) per site.
std::vector<Matrix<3>> random_transform(const Coord& extents, std::uint64_t seed);

/// U'_mu(x) = g(x) U_mu(x) g^+(x + mu).
HostGauge transform(const HostGauge& gauge, const std::vector<Matrix<3>>& g);

/// The configuration repeated repeats[mu] times in every direction.
HostGauge tile(const HostGauge& gauge, const Coord& repeats);

/// The links of a box of the lattice, which may reach over its edges.
HostGauge cut_out(const HostGauge& gauge, const Box& box);

/// The boundary phase folded into the links: U_mu(x) -> e^{i theta_mu} U_mu(x) at x_mu = extent - 1.
HostGauge with_boundary(const HostGauge& gauge, const Boundary& boundary);

}  // namespace quarkstar::reference
