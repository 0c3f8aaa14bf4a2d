// Low-mode averages: against dense inverses from every site, with all modes and with few; bits of cuts; gauge transformations.
#include "solvers/eigen/low_mode_average.hpp"

#include "codelets/actions/staggered/action.hpp"
#include "codelets/contract/staggered_mesons.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <numeric>

namespace low_mode_average_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261129;
constexpr double masses[] = {0.05, 0.3};
constexpr std::size_t channels = contract::StaggeredMesons::numbers;

/// D between the parities as dense matrices; sites of a parity in lexicographic order, colours inside.
struct DenseStaggered {
  DenseStaggered(const Coord& extents_, const reference::StaggeredLinks& links) : extents(extents_) {
    for (std::int64_t site = 0; site < volume(extents); ++site) sites[parity_of(coordinates(site, extents))].push_back(site);
    for (const int from : {0, 1}) {
      const auto n = static_cast<Eigen::Index>(3 * sites[from].size());
      d[from] = SmallMatrix(n, n);
      for (Eigen::Index column = 0; column < n; ++column)
        d[from].col(column) = of(reference::staggered_dslash(links, field(basis_vector(n, column), from)), 1 - from);
    }
  }
  static Eigen::VectorXcd basis_vector(Eigen::Index n, Eigen::Index i) {
    Eigen::VectorXcd v = Eigen::VectorXcd::Zero(n);
    v(i) = 1;
    return v;
  }
  reference::Field field(const Eigen::VectorXcd& v, int parity) const {
    reference::Field f(extents, 1);
    for (std::size_t i = 0; i < sites[parity].size(); ++i)
      for (int c = 0; c < 3; ++c) f(sites[parity][i], 0, c) = v(static_cast<Eigen::Index>(3 * i) + c);
    return f;
  }
  Eigen::VectorXcd of(const reference::Field& f, int parity) const {
    Eigen::VectorXcd v(static_cast<Eigen::Index>(3 * sites[parity].size()));
    for (std::size_t i = 0; i < sites[parity].size(); ++i)
      for (int c = 0; c < 3; ++c) v(static_cast<Eigen::Index>(3 * i) + c) = f(sites[parity][i], 0, c);
    return v;
  }
  /// (2m + D)^-1 from the sites of a parity to those of both, through the even-odd system there.
  std::array<SmallMatrix, 2> propagator(double mass, int from) const {
    const SmallMatrix h = -d[1 - from] * d[from];
    const SmallMatrix inverse = (h + 4 * mass * mass * SmallMatrix::Identity(h.rows(), h.cols())).partialPivLu().inverse();
    std::array<SmallMatrix, 2> to;
    to[static_cast<std::size_t>(from)] = 2 * mass * inverse;
    to[static_cast<std::size_t>(1 - from)] = -d[from] * inverse;
    return to;
  }
  Coord extents;
  std::vector<std::int64_t> sites[2];
  SmallMatrix d[2];  ///< by the parity that it takes
};

/// Of every site as a source, in lexicographic order: sum_x s(x - y) |S P(x, y)|^2. projectors: P on each parity.
std::vector<MesonTimes> mesons_from_everywhere(const DenseStaggered& dense, double mass, const SmallMatrix* projectors = nullptr) {
  const MesonTimes zero(channels, std::vector<double>(static_cast<std::size_t>(dense.extents[3])));
  std::vector<MesonTimes> all(static_cast<std::size_t>(volume(dense.extents)), zero);
  for (const std::size_t from : {0u, 1u}) {
    const std::array<SmallMatrix, 2> whole = dense.propagator(mass, static_cast<int>(from));
    for (const std::size_t to : {0u, 1u}) {
      const SmallMatrix s = projectors != nullptr ? SmallMatrix(whole[to] * projectors[from]) : whole[to];
      for (std::size_t j = 0; j < dense.sites[from].size(); ++j)
        for (std::size_t i = 0; i < dense.sites[to].size(); ++i) {
          const double square = s.block<3, 3>(static_cast<Eigen::Index>(3 * i), static_cast<Eigen::Index>(3 * j)).squaredNorm();
          const Coord x = coordinates(dense.sites[to][i], dense.extents), y = coordinates(dense.sites[from][j], dense.extents);
          int sign[4], both = 1;
          for (std::size_t mu = 0; mu < 4; ++mu) both *= sign[mu] = (x[mu] - y[mu]) % 2 == 0 ? 1 : -1;
          const auto t = static_cast<std::size_t>((x[3] - y[3] + dense.extents[3]) % dense.extents[3]);
          MesonTimes& c = all[static_cast<std::size_t>(dense.sites[from][j])];
          c[0][t] += square;
          c[1][t] += both * square;
          for (std::size_t mu = 0; mu < 3; ++mu) c[2 + mu][t] += sign[mu] * square;
          c[5][t] += (sign[0] + sign[1] + sign[2]) / 3. * square;
        }
    }
  }
  return all;
}

/// The largest difference at each time, over the pion there, which has no cancellations.
double distance(const MesonTimes& a, const MesonTimes& b) {
  double most = 0;
  for (std::size_t c = 0; c < a.size(); ++c)
    for (std::size_t t = 0; t < a[c].size(); ++t) most = std::max(most, std::abs(a[c][t] - b[c][t]) / b[0][t]);
  return most;
}

std::vector<Source> points_everywhere(const Coord& extents) {
  std::vector<Source> points;
  for (std::int64_t site = 0; site < volume(extents); ++site) points.push_back({Source::Kind::point, coordinates(site, extents)});
  return points;
}

/// The lowest modes on even sites.
struct KnownModes {
  EigenResult result;
  std::vector<HostField> vectors;
};
KnownModes lowest(const DenseStaggered& dense, int count) {
  const HermitianEigenpairs pairs = hermitian_eigenpairs(-dense.d[1] * dense.d[0]);
  MESSAGE("eigenvalues " << pairs.values(0) << " " << pairs.values(1) << " to " << pairs.values(pairs.values.size() - 1));
  KnownModes modes;
  for (int i = 0; i < count; ++i) {
    modes.result.values.push_back(pairs.values(i));
    modes.vectors.push_back(battery::to_colour(dense.field(pairs.vectors.col(i), 0)));
  }
  return modes;
}

/// long_scale: 0 leaves the long links out.
std::vector<LowModeMesons> averaged(const Coord& extents, const Coord& blocks, const reference::StaggeredLinks& links,
                                    const KnownModes& modes, std::span<const Source> sources, double long_scale = battery::naik_weight) {
  const smear::StaggeredLinks with_phases = battery::with_phases(links, long_scale);
  const staggered::Action action(with_phases);
  SolverSettings settings = battery::staggered_settings("cg");
  settings.tune = false;
  Solver solver(runtime::Decomposition(extents, blocks, runtime::Session::current().block_owners()), action, settings);
  const auto projector = battery::projector_of(modes.result, modes.vectors, 0, solver.lattice());
  return low_mode_mesons(solver, dynamic_cast<const EigenProjector&>(*projector), masses, sources);
}

bool same(const std::vector<LowModeMesons>& a, const std::vector<LowModeMesons>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LowModeMesons& x, const LowModeMesons& y) { return x.all == y.all && x.of_sources == y.of_sources; });
}

}  // namespace

TEST_CASE("all modes make the whole correlators, from each source and from all sites") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Coord& extents : {Coord{4, 4, 4, 4}, Coord{4, 4, 4, 8}}) {
    const reference::StaggeredLinks links = battery::smooth_links(extents, seed, 1.0);
    const DenseStaggered dense(extents, links);
    const KnownModes modes = lowest(dense, static_cast<int>(3 * volume(extents) / 2));
    const std::vector<Source> sources{
        {Source::Kind::point, {0, 0, 0, 0}}, {Source::Kind::point, {1, 0, 0, 0}}, {Source::Kind::point, {2, 3, 1, 3}}};
    const std::vector<LowModeMesons> low = averaged(extents, {1, 1, 1, extents[3] / 4}, links, modes, sources);
    REQUIRE(low.size() == std::size(masses));
    for (std::size_t m = 0; m < low.size(); ++m) {
      const std::vector<MesonTimes> exact = mesons_from_everywhere(dense, masses[m]);
      CHECK(distance(low[m].all, battery::mean_of(exact)) < 1e-10);
      for (std::size_t s = 0; s < sources.size(); ++s)
        CHECK(distance(low[m].of_sources[s], exact[static_cast<std::size_t>(lexicographic(sources[s].position, extents))]) < 1e-10);
    }
  }
}

TEST_CASE("few modes make the correlators of the projected propagator, whose mean over sources is that of all sites") {
  const Coord extents{4, 4, 4, 4};
  const reference::StaggeredLinks links = battery::smooth_links(extents, seed, 1.0);
  const DenseStaggered dense(extents, links);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const std::vector<Source> sources = points_everywhere(extents);
  for (const int count : {5, 21}) {
    const KnownModes modes = lowest(dense, count);
    SmallMatrix projectors[2];
    for (SmallMatrix& projector : projectors) projector = SmallMatrix::Zero(dense.d[0].rows(), dense.d[0].rows());
    for (int i = 0; i < count; ++i) {
      const Eigen::VectorXcd v = dense.of(battery::to_reference(modes.vectors[static_cast<std::size_t>(i)]), 0), w = dense.d[0] * v;
      projectors[0] += v * v.adjoint();
      projectors[1] += w * w.adjoint() / w.squaredNorm();
    }
    const std::vector<LowModeMesons> low = averaged(extents, {1, 1, 1, 1}, links, modes, sources);
    for (std::size_t m = 0; m < low.size(); ++m) {
      const std::vector<MesonTimes> projected = mesons_from_everywhere(dense, masses[m], projectors);
      CHECK(distance(low[m].all, battery::mean_of(projected)) < 1e-10);
      for (std::size_t s = 0; s < sources.size(); ++s) REQUIRE(distance(low[m].of_sources[s], projected[s]) < 1e-10);
      // So C - C_LL + C_LL of all has the mean of C.
      CHECK(distance(battery::mean_of(low[m].of_sources), low[m].all) < 1e-12);
    }
  }
}

TEST_CASE("low-mode averages: the same bits for every cut and number of workers") {
  const Coord extents{4, 4, 4, 8};
  const reference::StaggeredLinks links = battery::smooth_links(extents, seed, 1.0);
  const KnownModes modes = lowest(DenseStaggered(extents, links), 19);
  const std::vector<Source> sources{{Source::Kind::point, {0, 0, 0, 0}}, {Source::Kind::point, {1, 2, 3, 5}}};
  std::vector<LowModeMesons> first;
  for (const int workers : {1, 2}) {
    runtime::Session session({.cpu_workers = workers, .threads_per_worker = 1, .cuda_workers = 0});
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 4}, Coord{2, 1, 2, 1}}) {  // blocks of two sites: of short links alone
      const std::vector<LowModeMesons> low = averaged(extents, blocks, links, modes, sources, 0);
      if (first.empty()) first = low;
      CHECK(same(low, first));
    }
  }
}

TEST_CASE("low-mode averages do not depend on the gauge") {
  const Coord extents{4, 4, 4, 4};
  reference::StaggeredLinks links = battery::smooth_links(extents, seed, 1.0);
  KnownModes modes = lowest(DenseStaggered(extents, links), 10);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const std::vector<Source> sources{{Source::Kind::point, {3, 2, 1, 0}}};
  const std::vector<LowModeMesons> before = averaged(extents, {1, 1, 1, 1}, links, modes, sources);
  const std::vector<reference::Matrix<3>> g = reference::random_transform(extents, seed);
  links.fat = reference::transform(links.fat, g);
  for (std::int64_t site = 0; site < volume(extents); ++site)  // long links end three sites away
    for (std::size_t mu = 0; mu < 4; ++mu) {
      Coord end = coordinates(site, extents);
      end[mu] = (end[mu] + 3) % extents[mu];
      reference::set_link(links.naik, site, static_cast<int>(mu),
                          g[static_cast<std::size_t>(site)] * reference::link(links.naik, site, static_cast<int>(mu)) *
                              reference::adjoint(g[static_cast<std::size_t>(lexicographic(end, extents))]));
    }
  for (HostField& v : modes.vectors) v = battery::to_colour(reference::transform(battery::to_reference(v), g));
  const std::vector<LowModeMesons> after = averaged(extents, {1, 1, 1, 1}, links, modes, sources);
  for (std::size_t m = 0; m < before.size(); ++m) {
    CHECK(distance(after[m].all, before[m].all) < 1e-12);
    CHECK(distance(after[m].of_sources[0], before[m].of_sources[0]) < 1e-12);
  }
}

TEST_CASE("a mode that is zero but for rounding is refused") {
  const Coord extents{4, 4, 4, 4};
  const reference::StaggeredLinks links = battery::smooth_links(extents, seed, 1.0);
  KnownModes modes = lowest(DenseStaggered(extents, links), 3);
  modes.result.values[0] = 1e-16;
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  CHECK_THROWS_WITH_AS(averaged(extents, {1, 1, 1, 1}, links, modes, {}),
                       doctest::Contains("low-mode-average: mode 0 has the eigenvalue 1e-16"), Error);
}

}  // namespace low_mode_average_test
