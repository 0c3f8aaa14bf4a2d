#include "tests/reference/correlator.hpp"

#include "tests/reference/gauge.hpp"
#include "tests/reference/lattice.hpp"

#include <numbers>

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

Matrix<4> gamma_product(int n) {
  Matrix<4> product = Matrix<4>::identity();
  for (int mu = 0; mu < 4; ++mu)
    if ((n >> mu & 1) != 0) product = product * gamma(Basis::degrand_rossi, mu);
  return product;
}

namespace {

struct Permutation {
  std::array<int, 3> place;
  int sign;
};
constexpr Permutation permutations[6] = {{{0, 1, 2}, 1}, {{1, 2, 0}, 1}, {{2, 0, 1}, 1}, {{1, 0, 2}, -1}, {{0, 2, 1}, -1}, {{2, 1, 0}, -1}};

/// Each of the operator's quarks has a propagator of its own. from_flavours: of the quarks of J at the source.
std::vector<Complex> baryon_of(const std::array<const Propagator*, 3>& propagators, const Matrix<4>& gamma_of_diquark,
                               const Matrix<4>& projector, const std::array<int, 3>& flavours, const std::array<int, 3>& from_flavours,
                               const std::array<int, 3>& n, const Coord& origin) {
  const Coord& extents = propagators.front()->front().extents;
  const Matrix<4> g4 = gamma(Basis::degrand_rossi, 3), of_source = g4 * adjoint(gamma_of_diquark) * g4;
  std::vector<Complex> correlator(extents[3]);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Matrix<12> s[3] = {at_site(*propagators[0], site), at_site(*propagators[1], site), at_site(*propagators[2], site)};
    Complex sum = 0;
    for (const Permutation& sink : permutations)
      for (const Permutation& source : permutations)
        for (int spins = 0; spins < 4096; ++spins) {
          // q0, q1, q2 at the sink; their antiquarks at the source, where Jbar = eps q2bar (q1bar of_source q0bar^T).
          const int at[3] = {spins % 4, spins / 4 % 4, spins / 16 % 4}, from[3] = {spins / 64 % 4, spins / 256 % 4, spins / 1024};
          const Complex weight = gamma_of_diquark(at[0], at[1]) * of_source(from[1], from[0]) * projector(from[2], at[2]);
          if (weight == 0.0) continue;
          for (const Permutation& wick : permutations) {
            Complex product = static_cast<double>(sink.sign * source.sign * wick.sign) * weight;
            for (int q = 0; q < 3; ++q) {
              const int other = wick.place[static_cast<std::size_t>(q)];
              const auto here = static_cast<std::size_t>(q), there = static_cast<std::size_t>(other);
              product *=
                  flavours[here] == from_flavours[there] ? s[here](3 * at[q] + sink.place[here], 3 * from[other] + source.place[there]) : 0;
            }
            sum += product;
          }
        }
    const Coord x = coordinates(site, extents);
    correlator[x[3]] += plane_wave(x, n, origin, extents) * sum;
  }
  return correlator;
}

}  // namespace

std::vector<Complex> baryon(const Propagator& propagator, const Matrix<4>& gamma_of_diquark, const Matrix<4>& projector,
                            const std::array<int, 3>& flavours, const std::array<int, 3>& n, const Coord& origin) {
  return baryon_of({&propagator, &propagator, &propagator}, gamma_of_diquark, projector, flavours, flavours, n, origin);
}

std::vector<Complex> baryon(const std::vector<const Propagator*>& propagators, const std::vector<BaryonTerm>& terms,
                            const Matrix<4>& gamma_of_diquark, const Matrix<4>& projector, const std::array<int, 3>& n,
                            const Coord& origin) {
  std::vector<Complex> sum(propagators.front()->front().extents[3]);
  const auto of = [&](int flavour) { return propagators[static_cast<std::size_t>(flavour)]; };
  for (const BaryonTerm& sink : terms)
    for (const BaryonTerm& source : terms) {
      const std::array<int, 3>& f = sink.flavours;
      const std::vector<Complex> term =
          baryon_of({of(f[0]), of(f[1]), of(f[2])}, gamma_of_diquark, projector, f, source.flavours, n, origin);
      for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += sink.weight * source.weight * term[t];
    }
  return sum;
}

std::vector<Complex> baryon(const Propagator& propagator, const Propagator& inserted, int flavour, const Matrix<4>& gamma_of_diquark,
                            const Matrix<4>& projector, const std::array<int, 3>& flavours, const std::array<int, 3>& n,
                            const Coord& origin) {
  std::vector<Complex> sum(propagator.front().extents[3]);
  for (std::size_t quark = 0; quark < 3; ++quark) {
    if (flavours[quark] != flavour) continue;
    std::array<const Propagator*, 3> of_quarks{&propagator, &propagator, &propagator};
    of_quarks[quark] = &inserted;
    const std::vector<Complex> term = baryon_of(of_quarks, gamma_of_diquark, projector, flavours, flavours, n, origin);
    for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += term[t];
  }
  return sum;
}

Field insert_local(const Field& column, const Matrix<4>& gamma, int time, const std::array<int, 3>& q, const Coord& origin) {
  Field result = apply_spin(gamma, column);
  for (std::int64_t site = 0; site < column.sites(); ++site) {
    const Coord y = coordinates(site, column.extents);
    const Complex factor = y[3] == time ? std::conj(plane_wave(y, q, origin, column.extents)) : 0;
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour) result(site, spin, colour) *= factor;
  }
  return result;
}

Field insert_conserved(const HostGauge& gauge, double kappa, const Field& column, int mu, int time, const std::array<int, 3>& q,
                       const Coord& origin, const Boundary& boundary) {
  const Coord& extents = column.extents;
  const Matrix<4> one = Matrix<4>::identity(), g = gamma(Basis::degrand_rossi, mu);
  const Field plus = apply_spin(one + g, column), minus = apply_spin(one - g, column);
  Field result(extents, 4);
  for (std::int64_t site = 0; site < column.sites(); ++site) {
    const Coord y = coordinates(site, extents);
    if (y[3] != time) continue;
    const std::int64_t next = lexicographic(step(y, mu, 1, extents), extents);
    const Complex factor = kappa * std::conj(plane_wave(y, q, origin, extents)), hop = boundary.forward(y, mu, extents);
    const Matrix<3> u = hop * link(gauge, site, mu), back = adjoint(u);
    for (int spin = 0; spin < 4; ++spin) {
      const Vector<3> there = back * plus.colour_vector(site, spin), here = u * minus.colour_vector(next, spin);
      for (int colour = 0; colour < 3; ++colour) {
        result(next, spin, colour) += factor * there[colour];
        result(site, spin, colour) -= factor * here[colour];
      }
    }
  }
  return result;
}

Complex plane_wave(const Coord& x, const std::array<int, 3>& n, const Coord& origin, const Coord& extents) {
  double turns = 0;
  for (std::size_t mu = 0; mu < 3; ++mu) turns += static_cast<double>(n[mu] * (x[mu] - origin[mu])) / extents[mu];
  return std::polar(1.0, -2 * std::numbers::pi * turns);
}

std::vector<Complex> meson(const Propagator& propagator, const Matrix<4>& sink, const Matrix<4>& source, const std::array<int, 3>& n,
                           const Coord& origin) {
  return meson(propagator, propagator, sink, source, n, origin);
}

std::vector<Complex> meson(const Propagator& s, const Propagator& t, const Matrix<4>& sink, const Matrix<4>& source,
                           const std::array<int, 3>& n, const Coord& origin) {
  const Coord& extents = s.front().extents;
  const Matrix<3> one = Matrix<3>::identity();
  const Matrix<12> left = spin_times_colour(sink, one), between = spin_times_colour(source * gamma5(Basis::degrand_rossi), one),
                   right = spin_times_colour(gamma5(Basis::degrand_rossi), one);
  std::vector<Complex> correlator(extents[3]);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Coord x = coordinates(site, extents);
    correlator[x[3]] += plane_wave(x, n, origin, extents) * trace(left * at_site(s, site) * between * adjoint(at_site(t, site)) * right);
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
