// Low-mode averages of spinors: against dense inverses from every site, with all modes and with few; any vectors; bits of cuts.
#include "codelets/contract/mesons.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/gamma.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace low_mode_spinors_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261130;
constexpr int solved = 1;  ///< the parity of modes
constexpr std::size_t channels = contract::Mesons::numbers;

struct SpinorCase {
  const char* action;
  Schur schur;
  SettingValues settings = {};
};
std::vector<SpinorCase> spinor_cases() {
  std::vector<SpinorCase> all;
  for (const Schur schur : {Schur::asymmetric, Schur::symmetric}) {
    all.push_back({"wilson", schur, {{"kappa", 0.12}}});
    all.push_back({"clover", schur, {{"kappa", 0.12}, {"csw", 1.1}}});
    all.push_back({"twisted-mass", schur, {{"kappa", 0.12}, {"mu", std::vector<double>{0.15}}}});
    all.push_back({"twisted-mass", schur, {{"kappa", 0.12}, {"mu", std::vector<double>{-0.15}}, {"csw", 1.1}}});
  }
  return all;
}

/// An operator on a lattice, and its solver.
struct Spinors {
  Spinors(const SpinorCase& c, const Coord& extents_, const Coord& blocks)
      : extents(extents_), kind(kind_named(c.action)), mass(kind.masses(c.settings).front()) {
    ActionRun run;
    run.settings = c.settings;
    made = kind.with_any_links(reference::near_unit_gauge(extents, seed, 0.4), run);
    SolverSettings settings;
    settings.solver = "cgnr";
    settings.schur = c.schur;
    settings.tune = false;
    solver = std::make_unique<Solver>(runtime::Decomposition(extents, blocks, runtime::Session::current().block_owners()), *made.action,
                                      settings);
  }
  Coord extents;
  const ActionKind& kind;
  double mass;
  RunOperator made;
  std::unique_ptr<Solver> solver;
};

/// M as dense blocks between the parities: sites of a parity in lexicographic order, components inside.
struct DenseSpinors {
  explicit DenseSpinors(const Spinors& of) : extents(of.extents) {
    for (std::int64_t site = 0; site < volume(extents); ++site) sites[parity_of(coordinates(site, extents))].push_back(site);
    const auto n = static_cast<Eigen::Index>(12 * sites[0].size());
    for (const int from : {0, 1}) {
      m[0][from] = m[1][from] = SmallMatrix(n, n);
      for (Eigen::Index column = 0; column < n; ++column) {
        HostField unit(spinor_components, extents), image(spinor_components, extents);
        unit.at(sites[from][static_cast<std::size_t>(column / 12)], static_cast<int>(column % 12)) = 1;
        of.solver->apply({&unit, 1}, {&of.mass, 1}, {&image, 1});
        for (const int to : {0, 1}) m[to][from].col(column) = flat(image, to);
      }
    }
  }
  Eigen::VectorXcd flat(const HostField& field, int parity) const {
    Eigen::VectorXcd v(static_cast<Eigen::Index>(12 * sites[parity].size()));
    for (Eigen::Index i = 0; i < v.size(); ++i) v(i) = field.at(sites[parity][static_cast<std::size_t>(i / 12)], static_cast<int>(i % 12));
    return v;
  }
  HostField field(const Eigen::VectorXcd& v, int parity) const {
    HostField f(spinor_components, extents);
    for (Eigen::Index i = 0; i < v.size(); ++i) f.at(sites[parity][static_cast<std::size_t>(i / 12)], static_cast<int>(i % 12)) = v(i);
    return f;
  }
  static SmallMatrix inverse(const SmallMatrix& a) { return a.partialPivLu().inverse(); }
  /// Mh of the even-odd system.
  SmallMatrix system(Schur schur) const {
    const SmallMatrix mh = m[1][1] - m[1][0] * inverse(m[0][0]) * m[0][1];
    return schur == Schur::symmetric ? SmallMatrix(inverse(m[1][1]) * mh) : mh;
  }
  /// M^-1, [to][from].
  std::array<std::array<SmallMatrix, 2>, 2> propagator() const {
    const Eigen::Index n = m[0][0].rows();
    SmallMatrix whole(2 * n, 2 * n);
    whole << m[0][0], m[0][1], m[1][0], m[1][1];
    whole = inverse(whole);
    return {{{whole.topLeftCorner(n, n), whole.topRightCorner(n, n)}, {whole.bottomLeftCorner(n, n), whole.bottomRightCorner(n, n)}}};
  }
  Coord extents;
  std::vector<std::int64_t> sites[2];
  SmallMatrix m[2][2];  ///< [to][from]
};

using SiteMatrix = Eigen::Matrix<std::complex<double>, 12, 12>;

SiteMatrix with_colours(const reference::Matrix<4>& spins) {
  SiteMatrix all = SiteMatrix::Zero();
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) all.block<3, 3>(3 * a, 3 * b).setIdentity() *= spins(a, b);
  return all;
}

/// Of every site as a source, in lexicographic order: Tr[G S G g5 S^+ g5] of the sixteen G, and Tr[g4 S S^+].
std::vector<MesonTimes> spinor_mesons_from_everywhere(const DenseSpinors& dense, const std::array<std::array<SmallMatrix, 2>, 2>& s) {
  const reference::Basis basis = reference::Basis::degrand_rossi;
  const SiteMatrix g5 = with_colours(reference::gamma5(basis)), g4 = with_colours(reference::gamma(basis, 3));
  std::vector<SiteMatrix> sinks, sources;
  for (const int number : contract::Mesons::gamma) {
    const SiteMatrix g = with_colours(reference::gamma_product(number));
    sinks.push_back(g5 * g);
    sources.push_back(g * g5);
  }
  const Coord& extents = dense.extents;
  std::vector<MesonTimes> all(static_cast<std::size_t>(volume(extents)),
                              MesonTimes(channels, std::vector<double>(static_cast<std::size_t>(extents[3]))));
  for (const std::size_t from : {0u, 1u})
    for (const std::size_t to : {0u, 1u})
      for (std::size_t j = 0; j < dense.sites[from].size(); ++j)
        for (std::size_t i = 0; i < dense.sites[to].size(); ++i) {
          const SiteMatrix at = s[to][from].block<12, 12>(static_cast<Eigen::Index>(12 * i), static_cast<Eigen::Index>(12 * j));
          const Coord x = coordinates(dense.sites[to][i], extents), y = coordinates(dense.sites[from][j], extents);
          const auto t = static_cast<std::size_t>((x[3] - y[3] + extents[3]) % extents[3]);
          MesonTimes& c = all[static_cast<std::size_t>(dense.sites[from][j])];
          for (std::size_t channel = 0; channel < 16; ++channel) {
            const SiteMatrix left = sinks[channel] * at, right = at * sources[channel].adjoint();
            c[channel][t] += left.cwiseProduct(right.conjugate()).sum().real();
          }
          const SiteMatrix left = g4 * at;
          c[16][t] += left.cwiseProduct(at.conjugate()).sum().real();
        }
  return all;
}

/// The largest difference from time `first` on, over the pion there, which has no cancellations.
double distance(const MesonTimes& a, const MesonTimes& b, std::size_t first = 0) {
  REQUIRE(a.size() == channels);
  double most = 0;
  for (std::size_t c = 0; c < a.size(); ++c)
    for (std::size_t t = first; t < a[c].size(); ++t) most = std::max(most, std::abs(a[c][t] - b[c][t]) / b[0][t]);
  return most;
}

std::vector<Source> points_everywhere(const Coord& extents) {
  std::vector<Source> points;
  for (std::int64_t site = 0; site < volume(extents); ++site) points.push_back({Source::Kind::point, coordinates(site, extents)});
  return points;
}

LowModeMesons averaged(const Spinors& of, const std::vector<double>& values, const std::vector<HostField>& vectors,
                       std::span<const Source> sources) {
  EigenResult result;
  result.values = values;
  const auto projector = battery::projector_of(result, vectors, solved, of.solver->lattice());
  const std::vector<LowModeMesons> of_masses =
      low_mode_mesons(*of.solver, dynamic_cast<const EigenProjector&>(*projector), {&of.mass, 1}, sources);
  REQUIRE(of_masses.size() == 1);
  return of_masses.front();
}

}  // namespace

TEST_CASE("mesons of spinors from few modes are those of the projected propagator; all modes make the whole of it") {
  MESSAGE("seed " << seed);
  const Coord extents{2, 2, 2, 4};
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const std::vector<Source> sources = points_everywhere(extents);
  for (const SpinorCase& c : spinor_cases()) {
    INFO(c.action << (c.schur == Schur::symmetric ? " symmetric" : " asymmetric"));
    const Spinors of(c, extents, {1, 1, 1, 1});
    const DenseSpinors dense(of);
    const SmallMatrix mh = dense.system(c.schur);
    const HermitianEigenpairs pairs = hermitian_eigenpairs(mh.adjoint() * mh);
    const auto whole = dense.propagator();
    const SmallMatrix to_even = -DenseSpinors::inverse(dense.m[0][0]) * dense.m[0][1];
    const int all = static_cast<int>(pairs.values.size());
    for (const int count : c.schur == Schur::asymmetric && c.action == std::string("wilson") ? std::vector{5, 21, all} : std::vector{11}) {
      INFO(count << " modes");
      std::vector<double> values(pairs.values.data(), pairs.values.data() + count);
      std::vector<HostField> vectors;
      for (int i = 0; i < count; ++i) vectors.push_back(dense.field(pairs.vectors.col(i), solved));
      const LowModeMesons low = averaged(of, values, vectors, sources);
      std::array<std::array<SmallMatrix, 2>, 2> projected = whole;
      const SmallMatrix v = pairs.vectors.leftCols(count);
      for (const std::size_t from : {0u, 1u}) {
        projected[1][from] = v * (v.adjoint() * whole[1][from]);
        projected[0][from] = to_even * projected[1][from];
      }
      const std::vector<MesonTimes> expected = spinor_mesons_from_everywhere(dense, projected);
      CHECK(distance(low.all, battery::mean_of(expected)) < 1e-10);
      for (std::size_t s = 0; s < sources.size(); ++s) REQUIRE(distance(low.of_sources[s], expected[s]) < 1e-10);
      // So C - C_LL + C_LL of all has the mean of C.
      CHECK(distance(battery::mean_of(low.of_sources), low.all) < 1e-12);
      if (count == all) CHECK(distance(low.all, battery::mean_of(spinor_mesons_from_everywhere(dense, whole)), 1) < 1e-10);
    }
  }
}

TEST_CASE("mesons of spinors of any vectors: the same mean and the same bits for every cut and number of workers") {
  const Coord extents{4, 4, 4, 4};
  std::vector<double> values;
  std::vector<HostField> vectors;
  for (std::uint64_t i = 0; i < 19; ++i) {
    values.push_back(0.1 + 0.03 * static_cast<double>(i));
    vectors.push_back(battery::to_host(reference::restrict_to_parity(reference::random_field(extents, 4, seed + i), solved)));
  }
  const std::vector<Source> everywhere = points_everywhere(extents), sources{everywhere[0], everywhere[201]};
  for (const SpinorCase& c : {spinor_cases()[0], spinor_cases()[7]}) {
    std::vector<LowModeMesons> first;
    for (const int workers : {1, 2}) {
      runtime::Session session({.cpu_workers = workers, .threads_per_worker = 1, .cuda_workers = 0});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 2, 1}}) {
        const LowModeMesons low = averaged(Spinors(c, extents, blocks), values, vectors, sources);
        if (first.empty()) first.push_back(low);
        CHECK(low.all == first[0].all);
        CHECK(low.of_sources == first[0].of_sources);
      }
    }
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
    const LowModeMesons from_all = averaged(Spinors(c, extents, {1, 1, 1, 1}), values, vectors, everywhere);
    CHECK(distance(battery::mean_of(from_all.of_sources), from_all.all) < 1e-12);
    CHECK(from_all.all == first[0].all);
  }
}

}  // namespace low_mode_spinors_test
