// Modes that solves of operators that are not hermitian gather, by BiCGStab and GCR: minimal residuals against dense algebra, fewer
// iterations, true residuals, bits.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/battery/recycling_support.hpp"
#include "tests/reference/clover.hpp"

#include <Eigen/Dense>

#include <array>
#include <memory>

namespace recycling_spinors_test {

using namespace quarkstar;
using battery::most_iterations;
using battery::solve_groups;
using battery::TogetherOutcome;

namespace {

constexpr std::uint64_t seed = 20261210;

std::vector<HostField> random_spinors(const Coord& extents, std::size_t count, std::uint64_t first_seed) {
  std::vector<HostField> fields;
  for (std::uint64_t v = 0; v < count; ++v) fields.push_back(battery::to_host(reference::random_field(extents, 4, first_seed + v)));
  return fields;
}

/// A field's numbers on the sites of one parity, in order.
Eigen::VectorXcd flat(const HostField& field, int parity) {
  Eigen::VectorXcd vector(static_cast<Eigen::Index>(field.data.size() / 2));
  Eigen::Index at = 0;
  for (std::int64_t site = 0; site < volume(field.extents); ++site)
    for (int c = 0; c < spinor_components && parity_of(coordinates(site, field.extents)) == parity; ++c) vector(at++) = field.at(site, c);
  return vector;
}

Eigen::MatrixXcd flat(std::span<const HostField> fields, int parity) {
  Eigen::MatrixXcd matrix(static_cast<Eigen::Index>(fields[0].data.size() / 2), static_cast<Eigen::Index>(fields.size()));
  for (std::size_t v = 0; v < fields.size(); ++v) matrix.col(static_cast<Eigen::Index>(v)) = flat(fields[v], parity);
  return matrix;
}

}  // namespace

TEST_CASE("what is known of solutions has the least residual; with all vectors of a lattice it is the inverse") {
  MESSAGE("seed " << seed);
  const Coord extents{2, 2, 2, 4};
  constexpr double kappa = 0.125, csw = 1.3;
  constexpr int n = 12, rank = 16 * spinor_components;  // sites of a parity
  const HostGauge gauge = reference::random_gauge(extents, seed);
  const reference::SiteMatrices term = reference::clover_term(gauge, kappa, csw);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  const std::vector<HostField> added = random_spinors(extents, rank, seed + 100), in = random_spinors(extents, n, seed + 500);
  for (const bool with_term : {false, true}) {
    INFO((with_term ? "clover" : "Wilson"));
    const std::unique_ptr<Action> action = with_term ? std::unique_ptr<Action>(std::make_unique<clover::Action>(
                                                           gauge, WilsonParameters{.kappa = kappa}, clover::Parameters{.csw = csw}))
                                                     : std::make_unique<wilson::Action>(gauge, WilsonParameters{.kappa = kappa});
    Solver solver(whole, *action, battery::settings_of("bicgstab", Precision::double_));
    const std::unique_ptr<EvenOdd> system = solver.system(n, kappa);
    const int parity = system->parity();
    // The block of M^-1 on these sites is the inverse of the Schur complement there. By the reference, column by column.
    const auto m = [&](const reference::Field& psi) {
      return with_term ? reference::clover_wilson(gauge, term, kappa, psi) : reference::wilson(gauge, kappa, psi);
    };
    Eigen::MatrixXcd dense(2 * rank, 2 * rank);
    std::vector<Eigen::Index> rows;
    for (Eigen::Index column = 0; column < 2 * rank; ++column) {
      reference::Field unit(extents, 4);
      unit.data[static_cast<std::size_t>(column)] = 1;
      dense.col(column) = Eigen::Map<const Eigen::VectorXcd>(m(unit).data.data(), 2 * rank);
      if (parity_of(coordinates(column / spinor_components, extents)) == parity) rows.push_back(column);
    }
    const Eigen::MatrixXcd inverse = dense.inverse()(rows, rows), schur = inverse.inverse(), rhs = flat(in, parity);

    RecycledSpace space(solver.lattice(), parity, spinor_components, RecycledSpace::most_modes);
    const Field d = system->field(), image = system->field(), squared = system->field();
    int v = 0;
    for (const int vectors : {3 * n, rank}) {
      for (; v < vectors; v += n) {
        transfer::load(d, std::span(added).subspan(static_cast<std::size_t>(v), n));
        system->apply(image, d, {}, false, {});
        system->apply(squared, image, {}, true, {});
        space.add(d, squared);
      }
      transfer::load(d, in);
      system->apply(image, d, {}, true, {});
      space.apply(squared, image, {});
      std::vector<HostField> out(n, HostField(spinor_components, extents));
      transfer::store(out, squared);
      session.wait_all();
      const Eigen::MatrixXcd all = flat(std::span(added).first(static_cast<std::size_t>(vectors)), parity);
      const Eigen::MatrixXcd least = all * (schur * all).colPivHouseholderQr().solve(rhs), got = flat(out, parity);
      CHECK((got - least).norm() < 1e-8 * least.norm());
      if (vectors == rank) CHECK((got - inverse * rhs).norm() < 1e-8 * got.norm());
    }
  }
}

TEST_CASE("two sources of twelve columns with BiCGStab and GCR: the second takes at most half of the iterations") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  constexpr double kappa = 0.158;
  constexpr std::size_t n = 12;
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 20, 0.3);
  const wilson::Action action(gauge, {.kappa = kappa});
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 2), cut(extents, {1, 1, 1, 2}, 2);
  const std::vector<HostField> sources = random_spinors(extents, 2 * n, seed + 40);
  struct Case {
    const char* solver;
    Precision precision;
  };
  for (const auto& [name, precision] : {Case{"bicgstab", Precision::double_},
                                        {"bicgstab", Precision::single},
                                        {"bicgstab", Precision::half},
                                        {"gcr", Precision::double_},
                                        {"gcr", Precision::single}}) {
    INFO(std::string(name) << " " << name_of(precision));
    SolverSettings settings = battery::settings_of(name, precision);
    settings.schur = precision == Precision::single ? Schur::symmetric : Schur::asymmetric;
    Solver plain(whole, action, settings);
    settings.recycle = 48;
    Solver solver(whole, action, settings);
    settings.check_every = 5;
    Solver other(cut, action, settings);
    const std::vector<TogetherOutcome> outcomes = solve_groups(solver, sources, n, kappa);
    const TogetherOutcome without = battery::solve_together(plain, std::span(sources).first(n), std::vector<double>(n, kappa));
    MESSAGE(std::string(name) << " " << name_of(precision) << ": " << most_iterations(without) << " iterations; "
                              << most_iterations(outcomes[0]) << ", " << most_iterations(outcomes[1]));
    CHECK(2 * most_iterations(outcomes[1]) <= most_iterations(without));
    for (std::size_t v = 0; v < sources.size(); ++v) {
      CHECK(outcomes[v / n].results[v % n].converged());
      const reference::Field b = battery::to_reference(sources[v]), x = battery::to_reference(outcomes[v / n].solutions[v % n]);
      CHECK(std::sqrt(reference::norm2(b - reference::wilson(gauge, kappa, x)) / reference::norm2(b)) < 1.01e-10);
    }
    battery::check_same_bits(solve_groups(other, sources, n, kappa), outcomes);
    // The first ones know nothing; that they pause changes no residual.
    for (std::size_t v = 0; v < n && precision == Precision::double_; ++v)
      CHECK(outcomes[0].results[v].residual_history == without.results[v].residual_history);
  }
}

}  // namespace recycling_spinors_test
