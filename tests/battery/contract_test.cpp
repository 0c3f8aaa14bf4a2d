// From a source to a correlator on the graph: the free field in four dimensions of momentum, and translations of the source.
#include "codelets/contract/mesons.hpp"
#include "codelets/field/source.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/free_field.hpp"
#include "tests/unit/contract_testing.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace contract_test {

using namespace quarkstar;
using contract::Momentum;
using reference::Complex;

namespace {

const Coord lattice{4, 4, 4, 8};
constexpr double kappa = 0.11;

/// Correlators of the twelve columns from a point, of the solutions where they are on the graph.
std::vector<Correlator> solved(const HostGauge& gauge, const Coord& point, const contract::Request& request, int vectors,
                               const Coord& blocks = {1, 1, 1, 1}) {
  const Source source{Source::Kind::point, point};
  SolverSettings settings;
  settings.tolerance = 1e-13;
  Solver solver(runtime::Decomposition(lattice, blocks, runtime::Session::current().block_owners()),
                wilson::Action(gauge, {kappa, {}, antiperiodic_in_time}), settings);
  // Those of another column come first where there are more vectors than columns.
  std::vector<int> columns;
  for (int v = 0; v < vectors; ++v) columns.push_back(std::max(0, v - (vectors - 12)));
  std::vector<HostField> sources, solutions(columns.size(), HostField(spinor_components, lattice));
  for (const int column : columns) sources.push_back(make_source(source, spinor_components, lattice, column));
  std::vector<int> places;
  for (int c = 0; c < 12; ++c) places.push_back(vectors - 12 + c);
  std::optional<contract::Contraction> contraction;
  solver.solve(sources, std::vector<double>(columns.size(), kappa), solutions, {}, {},
               [&](const FullField& on_graph, std::span<const SolveResult> results) {
                 CHECK(std::all_of(results.begin(), results.end(), [](const SolveResult& r) { return r.converged(); }));
                 contraction.emplace(contract::choose({"mesons"}, request.names), request, on_graph, places, source);
               });
  std::vector<Correlator> correlators = contraction->correlators();
  // They are those of the columns that came back.
  const std::vector<HostField> back(solutions.end() - 12, solutions.end());
  CHECK(testing::same_bits(correlators, testing::contracted(back, "mesons", request, source)));
  return correlators;
}

Complex value_of(const Correlator& c, std::size_t t) { return {c.values[t], c.imaginary.empty() ? 0 : c.imaginary[t]}; }

/// S(k, t) = 1/T sum over k_t of e^{i k_t t} S(k, k_t) for all spatial k, lexicographic, and t.
std::vector<std::vector<reference::Matrix<4>>> free_propagators() {
  const Coord space{lattice[0], lattice[1], lattice[2], 1};
  std::vector<std::vector<reference::Matrix<4>>> all;
  for (std::int64_t i = 0; i < volume(space); ++i) {
    Coord n = coordinates(i, space);
    std::vector<reference::Matrix<4>>& of_k = all.emplace_back(static_cast<std::size_t>(lattice[3]));
    for (n[3] = 0; n[3] < lattice[3]; ++n[3]) {
      const reference::Momentum p = reference::momentum(n, lattice, reference::Boundary::antiperiodic_t());
      for (int t = 0; t < lattice[3]; ++t)
        of_k[static_cast<std::size_t>(t)] =
            of_k[static_cast<std::size_t>(t)] + std::polar(1.0 / lattice[3], p[3] * t) * reference::wilson_free_propagator(kappa, p);
    }
  }
  return all;
}

}  // namespace

// C_G(q, t) = 3 / V sum_k tr[G S(k, t) G g5 S(k - q, t)^+ g5].
TEST_CASE("mesons on unit links are sums over momenta in four dimensions") {
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const contract::Request request{.names = {"mesons"}, .momenta = {{0, 0, 0}, {1, 0, 0}, {2, -1, 1}}};
  const std::vector<Correlator> got = solved(reference::unit_gauge(lattice), {0, 0, 0, 0}, request, 12);
  const auto s = free_propagators();
  const reference::Matrix<4> g5 = reference::gamma5(reference::Basis::degrand_rossi);
  const Coord space{lattice[0], lattice[1], lattice[2], 1};
  for (const Momentum& q : request.momenta)
    for (int channel = 0; channel < 16; ++channel) {
      const reference::Matrix<4> g = reference::gamma_product(contract::Mesons::gamma[channel]);
      const Correlator& c = testing::named(got, contract::name_of(contract::Mesons::channels[channel], q));
      for (std::size_t t = 0; t < 8; ++t) {
        Complex expected = 0;
        for (std::int64_t i = 0; i < volume(space); ++i) {
          Coord other = coordinates(i, space);
          for (std::size_t mu = 0; mu < 3; ++mu) other[mu] = (other[mu] - q[mu] + 2 * lattice[mu]) % lattice[mu];
          const auto &here = s[static_cast<std::size_t>(i)][t], &there = s[static_cast<std::size_t>(lexicographic(other, space))][t];
          expected += 3.0 / 64 * trace(g * here * g * g5 * adjoint(there) * g5);
        }
        INFO(c.name << " t " << t);
        CHECK(std::abs(value_of(c, t) - expected) < 1e-11 * got[0].values[t]);
      }
    }
}

TEST_CASE("a point anywhere has the mesons of the shifted configuration from the origin, with momentum too") {
  constexpr std::uint64_t seed = 1618;
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const Coord point{1, 3, 2, 5};
  HostGauge shifted = gauge;
  for (std::int64_t site = 0; site < volume(lattice); ++site) {
    Coord from = coordinates(site, lattice);
    for (std::size_t mu = 0; mu < 4; ++mu) from[mu] = (from[mu] + point[mu]) % lattice[mu];
    for (int mu = 0; mu < 4; ++mu) std::ranges::copy(gauge.link(lexicographic(from, lattice), mu), shifted.link(site, mu).begin());
  }
  const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const contract::Request request{.names = {"mesons"}, .momenta = {{0, 0, 0}, {1, -1, 2}}};
  const std::vector<Correlator> here = solved(gauge, point, request, 12, {1, 1, 1, 2}), there = solved(shifted, {0, 0, 0, 0}, request, 14);
  for (std::size_t c = 0; c < here.size(); ++c)
    for (std::size_t t = 0; t < 8; ++t) {
      INFO(here[c].name << " t " << t);
      CHECK(std::abs(value_of(here[c], t) - value_of(there[c], t)) < 1e-10 * here[0].values[t]);
    }
}

}  // namespace contract_test
