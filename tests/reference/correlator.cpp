#include "tests/reference/correlator.hpp"

#include "tests/reference/lattice.hpp"

namespace quarkstar::reference {
namespace {

/// S(x) as a 12 x 12 matrix, rows sink, columns source.
Matrix<12> at_site(const Propagator& propagator, std::int64_t site) {
  Matrix<12> s;
  for (int sink = 0; sink < 12; ++sink)
    for (int source = 0; source < 12; ++source) s(sink, source) = propagator[source](site, sink / 3, sink % 3);
  return s;
}

}  // namespace

Propagator point_propagator(const Operator& m, const Operator& m_dagger, const Coord& extents, int spins, const Coord& origin,
                            double tolerance) {
  Propagator propagator;
  for (int spin = 0; spin < spins; ++spin)
    for (int colour = 0; colour < 3; ++colour)
      propagator.push_back(cgnr(m, m_dagger, point_source(extents, spins, origin, spin, colour), tolerance).x);
  return propagator;
}

std::vector<double> pion(const Propagator& propagator) {
  const Coord& extents = propagator.front().extents;
  std::vector<double> correlator(extents[3]);
  for (const Field& column : propagator)
    for (std::int64_t site = 0; site < column.sites(); ++site)
      for (int s = 0; s < column.spins; ++s)
        for (int c = 0; c < 3; ++c) correlator[coordinates(site, extents)[3]] += std::norm(column(site, s, c));
  return correlator;
}

std::vector<double> rho(const Propagator& propagator, int i, Basis basis) {
  const Coord& extents = propagator.front().extents;
  const Matrix<12> g_i = spin_times_colour(gamma(basis, i), Matrix<3>::identity());
  const Matrix<12> g_5 = spin_times_colour(gamma5(basis), Matrix<3>::identity());
  std::vector<double> correlator(extents[3]);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Matrix<12> s = at_site(propagator, site);
    correlator[coordinates(site, extents)[3]] += trace(g_i * s * g_i * g_5 * adjoint(s) * g_5).real();
  }
  return correlator;
}

namespace {

/// C(t) = sum_x sign(x) |G|^2
template <class Sign>
std::vector<double> signed_squares(const Propagator& propagator, Sign&& sign) {
  const Coord& extents = propagator.front().extents;
  std::vector<double> correlator(extents[3]);
  for (const Field& column : propagator)
    for (std::int64_t site = 0; site < column.sites(); ++site) {
      const Coord x = coordinates(site, extents);
      for (int c = 0; c < 3; ++c) correlator[x[3]] += sign(x) * std::norm(column(site, 0, c));
    }
  return correlator;
}

}  // namespace

std::vector<double> staggered_pion05(const Propagator& propagator, const Coord& origin) {
  const bool odd_origin = (origin[0] + origin[1] + origin[2] + origin[3]) % 2 != 0;
  return signed_squares(propagator, [&](const Coord& x) { return ((x[0] + x[1] + x[2] + x[3]) % 2 != 0) == odd_origin ? 1.0 : -1.0; });
}

std::vector<double> staggered_rho(const Propagator& propagator, int i) {
  return signed_squares(propagator, [&](const Coord& x) { return x[i] % 2 == 0 ? 1.0 : -1.0; });
}

}  // namespace quarkstar::reference
