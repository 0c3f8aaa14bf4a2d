// Solves the Wilson equation M x = b with the installed library, and takes the residual b - M x with loops of its own.
#include "codelets/actions/wilson/action.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <quarkstar_version.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

using Complex = std::complex<double>;
using quarkstar::Coord;

namespace {

constexpr Coord lattice{4, 4, 4, 8};
constexpr double kappa = 0.11;

/// Random SU(3) links: two rows made orthonormal, the third the conjugate of their cross product.
quarkstar::HostGauge random_links() {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  quarkstar::HostGauge gauge{lattice, quarkstar::HostReals(static_cast<std::size_t>(72 * quarkstar::volume(lattice)))};
  for (auto out = gauge.data.begin(); out != gauge.data.end();) {
    Complex u[3][3];
    for (int row = 0; row < 2; ++row) {
      for (Complex& z : u[row]) z = {normal(engine), normal(engine)};
      Complex overlap = 0;
      for (int i = 0; row == 1 && i < 3; ++i) overlap += std::conj(u[0][i]) * u[1][i];
      double norm = 0;
      for (int i = 0; i < 3; ++i) norm += std::norm(u[row][i] -= overlap * u[0][i]);
      for (Complex& z : u[row]) z /= std::sqrt(norm);
    }
    for (int i = 0; i < 3; ++i) u[2][i] = std::conj(u[0][(i + 1) % 3] * u[1][(i + 2) % 3] - u[0][(i + 2) % 3] * u[1][(i + 1) % 3]);
    for (const auto& row : u)
      for (const Complex z : row) {
        *out++ = z.real();
        *out++ = z.imag();
      }
  }
  return gauge;
}

/// psi - kappa sum_mu [(1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu^+(x-mu) psi(x-mu)], antiperiodic in time. psi[(site 4 + spin) 3 +
/// colour]; gamma matrices in DeGrand-Rossi's basis: row s of g_mu has `phase` in column `spin`.
std::vector<Complex> wilson(const quarkstar::HostGauge& gauge, const std::vector<Complex>& psi) {
  struct Entry {
    std::size_t spin;
    Complex phase;
  };
  constexpr Complex i{0, 1};
  static const Entry gamma[4][4] = {{{3, i}, {2, i}, {1, -i}, {0, -i}},
                                    {{3, -1.0}, {2, 1.0}, {1, 1.0}, {0, -1.0}},
                                    {{2, i}, {3, -i}, {0, -i}, {1, i}},
                                    {{2, 1.0}, {3, 1.0}, {0, 1.0}, {1, 1.0}}};
  std::vector<Complex> out = psi;
  for (std::int64_t site = 0; site < quarkstar::volume(lattice); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (const int step : {1, -1}) {
        Coord x = quarkstar::coordinates(site, lattice);
        x[mu] = (x[mu] + step + lattice[mu]) % lattice[mu];
        const bool crosses = x[mu] == (step == 1 ? 0 : lattice[mu] - 1);
        const std::int64_t there = quarkstar::lexicographic(x, lattice);
        const auto u = gauge.link(step == 1 ? site : there, mu);
        const double factor = -kappa * (mu == 3 && crosses ? -1 : 1);
        for (std::size_t s = 0; s < 4; ++s)
          for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t col = 0; col < 3; ++col) {
              const std::size_t k = step == 1 ? 2 * (3 * row + col) : 2 * (3 * col + row);
              const Complex entry{u[k], step * u[k + 1]};
              const auto at = [&](std::size_t spin) { return psi[(static_cast<std::size_t>(there) * 4 + spin) * 3 + col]; };
              const Entry& g = gamma[mu][s];
              out[(static_cast<std::size_t>(site) * 4 + s) * 3 + row] += factor * entry * (at(s) - double(step) * g.phase * at(g.spin));
            }
      }
  return out;
}

}  // namespace

int main() try {
  const quarkstar::runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const quarkstar::HostGauge gauge = random_links();
  quarkstar::HostField source(quarkstar::spinor_components, lattice), solution(quarkstar::spinor_components, lattice);
  source.data[5] = 1;  // spin 1, colour 2 at the origin
  quarkstar::Solver solver(quarkstar::runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), quarkstar::wilson::Action(gauge, {.kappa = kappa}),
                           {.tolerance = 1e-10, .precision = quarkstar::Precision::single, .link_reals = 12, .tune = false});
  const quarkstar::SolveResult result = solver.solve(source, solution);

  const std::vector<Complex> image = wilson(gauge, solution.data);
  double residual = 0;
  for (std::size_t k = 0; k < image.size(); ++k) residual += std::norm(source.data[k] - image[k]);
  residual = std::sqrt(residual);  // |b| = 1
  std::printf("quarkstar %s: %d iterations, |b - M x| / |b| = %.3e, by loops %.3e\n", quarkstar::version, result.iterations,
              result.true_residual, residual);
  return result.converged() && residual < 1e-10 && std::abs(residual - result.true_residual) < 1e-14 ? 0 : 1;
} catch (const quarkstar::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
