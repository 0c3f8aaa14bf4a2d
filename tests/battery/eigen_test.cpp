// Eigenvalues and eigenvectors of every action against dense matrices, and their bits.
#include "apps/run/eigen_run.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/field/noise.hpp"
#include "runtime/policy/policy.hpp"
#include "solvers/small_matrices.hpp"
#include "tests/battery/eigen_support.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace eigen_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261201;

/// Sites of one parity, or all.
std::vector<std::int64_t> sites_of(const Coord& extents, int parity) {
  std::vector<std::int64_t> sites;
  for (std::int64_t site = 0; site < volume(extents); ++site)
    if (parity == both_parities || parity_of(coordinates(site, extents)) == parity) sites.push_back(site);
  return sites;
}

/// All elements of A, column by column.
SmallMatrix dense(LinearOperator& a) {
  const Coord& extents = a.lattice()->decomposition().lattice();
  const std::vector<std::int64_t> sites = sites_of(extents, a.parity());
  const int components = a.components();
  const auto dimension = static_cast<Eigen::Index>(sites.size()) * components;
  SmallMatrix matrix(dimension, dimension);
  std::vector<HostField> units;
  for (Eigen::Index first = 0; first < dimension; first += a.vectors()) {
    units.assign(static_cast<std::size_t>(a.vectors()), HostField(components, extents));
    for (int v = 0; v < a.vectors(); ++v)
      units[static_cast<std::size_t>(v)].at(sites[static_cast<std::size_t>((first + v) / components)],
                                            static_cast<int>((first + v) % components)) = 1;
    const std::vector<HostField> images = battery::images_of(a, std::move(units));
    for (int v = 0; v < a.vectors(); ++v)
      for (std::size_t s = 0; s < sites.size(); ++s)
        for (int c = 0; c < components; ++c)
          matrix(static_cast<Eigen::Index>(s) * components + c, first + v) = images[static_cast<std::size_t>(v)].at(sites[s], c);
  }
  return matrix;
}

Eigen::VectorXcd flat(const HostField& field, int parity) {
  const std::vector<std::int64_t> sites = sites_of(field.extents, parity);
  Eigen::VectorXcd vector(static_cast<Eigen::Index>(sites.size()) * field.components);
  for (std::size_t s = 0; s < sites.size(); ++s)
    for (int c = 0; c < field.components; ++c) vector(static_cast<Eigen::Index>(s) * field.components + c) = field.at(sites[s], c);
  return vector;
}

struct Outcome {
  EigenResult result;
  std::vector<HostField> vectors;
};

Outcome solved(const runtime::Decomposition& decomposition, const Action& action, const EigenSettings& settings,
               const EigenProgress& progress = {}, const EigenSnapshots& snapshots = {}) {
  battery::HermitianOperator a(decomposition, action, settings.block);
  BlockLanczos lanczos(*a, settings);
  Outcome outcome{lanczos.solve(progress, snapshots), {}};
  if (outcome.result.converged) outcome.vectors = battery::extracted(lanczos, settings.modes);
  return outcome;
}

void check_same_bits(const Outcome& outcome, const Outcome& expected) {
  CHECK(outcome.result.values == expected.result.values);
  CHECK(outcome.result.residuals == expected.result.residuals);
  CHECK(outcome.result.state.applications == expected.result.state.applications);
  REQUIRE(outcome.vectors.size() == expected.vectors.size());
  for (std::size_t v = 0; v < expected.vectors.size(); ++v) CHECK(battery::same_bits(outcome.vectors[v], expected.vectors[v]));
}

}  // namespace

TEST_CASE("every action: the lowest modes are those of its dense matrix, with true residuals below the tolerance") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const ActionKind* kind : action_kinds()) {
    INFO(std::string(kind->name));
    if (kind->slices({}) > 1) continue;  // domain_wall_modes_test.cpp
    const bool spinors = kind->components == spinor_components;
    const Coord extents = spinors ? Coord{4, 2, 2, 4} : Coord{4, 4, 4, 4};
    const RunOperator made = kind->with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
    const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
    battery::HermitianOperator of_dense(whole, *made.action, 8);
    const SmallMatrix matrix = dense(*of_dense);
    CHECK((matrix - matrix.adjoint()).cwiseAbs().maxCoeff() < 1e-12);
    const Eigen::VectorXd expected = Eigen::SelfAdjointEigenSolver<SmallMatrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
    const EigenSettings asked[] = {
        {.modes = 10, .block = 1},
        {.modes = 10, .block = 4},
        {.modes = 10, .block = 4, .basis_precision = Precision::single},
        {.modes = 10, .tolerance = 1e-6, .block = 4, .basis_precision = Precision::single},
    };
    for (const EigenSettings& settings : asked) {
      INFO("block " << settings.block << ", basis in " << name_of(settings.basis_precision) << ", tolerance " << settings.tolerance);
      const bool refined = settings.tolerance < 1e-6;  // else vectors are orthogonal, and of length 1, as single precision leaves them
      const Outcome outcome = solved(whole, *made.action, settings);
      REQUIRE(outcome.result.converged);
      REQUIRE(outcome.vectors.size() == 10);
      double most = 0;
      for (std::size_t i = 0; i < 10; ++i) {
        INFO("mode " << i);
        const auto at = static_cast<Eigen::Index>(i);
        CHECK(outcome.result.values[i] == doctest::Approx(expected(at)).epsilon(refined ? 1e-11 : 1e-9));
        CHECK(outcome.result.residuals[i] < settings.tolerance);
        const Eigen::VectorXcd v = flat(outcome.vectors[i], (*of_dense).parity());
        CHECK(v.norm() == doctest::Approx(1).epsilon(refined ? 1e-12 : 1e-7));
        CHECK((matrix * v - outcome.result.values[i] * v).norm() < 1.1 * settings.tolerance);
        for (std::size_t j = 0; j < i; ++j) {
          const double along = std::abs(flat(outcome.vectors[j], (*of_dense).parity()).dot(v));
          CHECK(along < (refined ? 1e-11 : 1e-7));
          most = std::max(most, along);
        }
      }
      MESSAGE(std::string(kind->name) << " block " << settings.block << " " << name_of(settings.basis_precision) << ": |<v_i, v_j>| up to "
                                      << most << ", |A v - lambda v| up to "
                                      << *std::max_element(outcome.result.residuals.begin(), outcome.result.residuals.end()) << ", "
                                      << outcome.result.state.restarts << " restarts, degree " << outcome.result.state.degree << ", "
                                      << outcome.result.state.applications << " applications");
    }
  }
}

TEST_CASE("gamma_5 M is hermitian, and the reference's M times gamma_5") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const Coord extents{4, 4, 4, 4};
  const HostGauge gauge = reference::random_gauge(extents, seed + 2);
  const WilsonParameters parameters{.kappa = 0.13};
  const wilson::Action action(gauge, parameters);
  const app::EigenOperator h(action, runtime::Decomposition(extents, {1, 1, 1, 2}, 2), parameters.kappa, Schur::asymmetric, {.block = 2},
                             false, {.of = app::ModesOf::gamma5});
  const std::vector<reference::Field> psi{reference::random_field(extents, 4, seed + 3), reference::random_field(extents, 4, seed + 4)};
  const std::vector<HostField> images = battery::images_of(*h, {battery::to_host(psi[0]), battery::to_host(psi[1])});
  for (std::size_t v = 0; v < psi.size(); ++v) {
    reference::Field expected = reference::wilson(gauge, parameters.kappa, psi[v]);
    for (std::size_t i = 0; i < expected.data.size(); ++i)
      if (i % spinor_components >= spinor_components / 2) expected.data[i] = -expected.data[i];
    CHECK(std::sqrt(reference::norm2(battery::to_reference(images[v]) - expected) / reference::norm2(expected)) < 1e-14);
  }
  CHECK(std::abs(flat(images[0], both_parities).dot(flat(battery::to_host(psi[1]), both_parities)) -
                 flat(battery::to_host(psi[0]), both_parities).dot(flat(images[1], both_parities))) < 1e-10);
}

TEST_CASE("every action: modes of gamma_5 M with their signs, and those of either end, are those of dense matrices") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  int of_gamma5 = 0;
  for (const ActionKind* kind : action_kinds()) {
    INFO(std::string(kind->name));
    if (kind->slices({}) > 1) {
      CHECK_THROWS_WITH(app::require_target(*kind, {}, {.of = app::ModesOf::gamma5}), doctest::Contains("has a fifth dimension"));
      continue;
    }
    const bool spinors = kind->components == spinor_components;
    const Coord extents = spinors ? Coord{2, 2, 2, 4} : Coord{4, 4, 4, 4};
    const RunOperator made = kind->with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
    const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
    const double mass = battery::HermitianOperator(whole, *made.action, 1).mass();
    for (const app::ModesOf of : {app::ModesOf::even_odd, app::ModesOf::gamma5}) {
      if (of == app::ModesOf::gamma5 && (!spinors || kind->sequential_mass(0.1) != 0.1)) {
        CHECK_THROWS_WITH(app::require_target(*kind, {}, {.of = of}), doctest::Contains("operator: gamma5, and "));
        continue;
      }
      of_gamma5 += of == app::ModesOf::gamma5 ? 1 : 0;
      const app::EigenOperator of_dense(*made.action, whole, mass, Schur::asymmetric, {.block = 8}, false, {.of = of});
      const int parity = (*of_dense).parity();
      const SmallMatrix matrix = dense(*of_dense);
      CHECK((matrix - matrix.adjoint()).cwiseAbs().maxCoeff() < 1e-12);
      const Eigen::VectorXd all = Eigen::SelfAdjointEigenSolver<SmallMatrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
      std::vector<double> expected(all.begin(), all.end());
      std::sort(expected.begin(), expected.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
      for (const app::SpectrumEnd end : {app::SpectrumEnd::lowest, app::SpectrumEnd::highest}) {
        if (end == app::SpectrumEnd::highest) std::reverse(expected.begin(), expected.end());
        if (of == app::ModesOf::even_odd && end == app::SpectrumEnd::lowest) continue;  // above
        for (const Precision basis : {Precision::double_, Precision::single}) {
          const std::string what = fmt::format("{} {}, basis in {}", app::name_of(of), app::name_of(end), name_of(basis));
          INFO(what);
          const EigenSettings settings{.modes = 10, .block = 4, .basis_precision = basis};
          const app::EigenOperator a(*made.action, whole, mass, Schur::asymmetric, settings, false, {of, end});
          BlockLanczos lanczos = a.lanczos(settings);
          const EigenResult result = lanczos.solve();
          REQUIRE(result.converged);
          const std::vector<HostField> vectors = battery::extracted(lanczos, settings.modes);
          int negative = 0;
          for (std::size_t i = 0; i < vectors.size(); ++i) {
            INFO("mode " << i);
            CHECK(result.values[i] == doctest::Approx(expected[i]).epsilon(1e-11));
            CHECK(result.residuals[i] < settings.tolerance);
            negative += result.values[i] < 0 ? 1 : 0;
            const Eigen::VectorXcd v = flat(vectors[i], parity);
            CHECK((matrix * v - result.values[i] * v).norm() < 1.1 * settings.tolerance);
            for (std::size_t j = 0; j < i; ++j) CHECK(std::abs(flat(vectors[j], parity).dot(v)) < 1e-11);
          }
          MESSAGE(std::string(kind->name) << " " << what << ": " << negative << " of 10 negative, " << result.state.restarts
                                          << " restarts, " << result.state.applications << " applications");
        }
      }
    }
  }
  CHECK(of_gamma5 >= 2);
}

TEST_CASE("modes have the same bits for every cut, policy and number of workers, and after an interruption") {
  MESSAGE("seed " << seed);
  const std::pair<const char*, Precision> cases[] = {
      {"wilson", Precision::double_}, {"hisq", Precision::double_}, {"wilson", Precision::single}, {"hisq", Precision::single}};
  for (const auto& [name, precision] : cases) {
    INFO(std::string(name) << ", basis in " << name_of(precision));
    const bool far = kind_named(name).reach > 1;
    const Coord extents = far ? Coord{4, 4, 4, 8} : Coord{4, 4, 4, 4};
    const HostGauge gauge = far ? reference::random_gauge(extents, seed + 1) : reference::near_unit_gauge(extents, seed + 1, 0.4);
    const RunOperator made = kind_named(name).with_any_links(gauge, {});
    const EigenSettings settings{.modes = 4, .tolerance = 1e-8, .block = 2, .basis_precision = precision};
    Outcome first;
    {
      runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
      first = solved(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), *made.action, settings);
      REQUIRE(first.result.converged);
    }
    std::size_t number = 0;
    for (const std::string& policy : runtime::policy_names()) {
      const bool every_other = number++ % 2 == (far ? 1U : 0U);  // each policy for one of the actions
      if (!every_other && policy != "static") continue;
      INFO(policy);
      runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
      check_same_bits(solved(runtime::Decomposition(extents, far ? Coord{1, 1, 1, 2} : Coord{1, 1, 2, 2}, 2), *made.action, settings),
                      first);
    }
    // A solve that is interrupted at its first restart, and goes on from what it saved.
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
    const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
    LanczosState state;
    std::vector<HostField> vectors;
    const auto save = [&](const LanczosState& now, const Basis& basis, const Field& next) {
      state = now;
      vectors = battery::extracted(basis, basis.count());
      std::vector<HostField> block(static_cast<std::size_t>(next.vectors()), HostField(next.components(), extents));
      transfer::store(block, next);
      runtime::Session::current().wait_all();
      vectors.insert(vectors.end(), block.begin(), block.end());
    };
    const auto load = [&](LanczosState& now, Basis& basis, const Field& next) {
      now = state;
      const auto n = static_cast<std::size_t>(next.vectors());
      for (std::size_t at = 0; at < vectors.size(); at += n) {
        const Field block = basis.field();
        const bool last = at + n == vectors.size();
        transfer::load(last ? next : block, std::span<const HostField>(vectors).subspan(at, n));
        runtime::Session::current().wait_all();
        if (!last) basis.append(block);
      }
      return true;
    };
    const Outcome stopped = solved(whole, *made.action, settings, [](const LanczosState&, int) { return false; }, {{}, save});
    REQUIRE(!stopped.result.converged);
    REQUIRE(!vectors.empty());
    check_same_bits(solved(whole, *made.action, settings, {}, {load, {}}), first);
    if (far || precision != Precision::double_) continue;
    // What is told of each restart is saved.
    EigenSettings narrow = settings;
    narrow.modes = 6;
    narrow.basis = 16;
    narrow.tolerance = 1e-4;
    narrow.degree = 12;
    int told = 0, saved = 0;
    const auto count = [&](const LanczosState&, int) { return ++told > 0; };
    const Outcome wider =
        solved(whole, *made.action, narrow, count, {{}, [&](const LanczosState&, const Basis&, const Field&) { ++saved; }});
    REQUIRE(wider.result.converged);
    CHECK(saved == told);
    const Outcome at_once = solved(whole, *made.action, narrow, [](const LanczosState&, int) { return false; }, {{}, save});
    REQUIRE(!at_once.result.converged);
    check_same_bits(solved(whole, *made.action, narrow, {}, {load, {}}), wider);
  }
}

TEST_CASE("a basis in host memory is rotated to the same bits") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition cut({4, 4, 4, 4}, {1, 1, 1, 2}, 2);
  const LatticePointer lattice = std::make_shared<Lattice>(cut, Precision::double_, periodic, LayoutRequest{});
  constexpr int block = 4, vectors = 108, left = 84;  // 7 fields, and 6
  const SmallMatrix any = SmallMatrix::Random(vectors, left);
  SmallMatrix kept = any;  // the second field is left alone
  kept.middleCols(16, 16).setZero();
  kept.block(16, 16, 16, 16).setIdentity();
  for (const int components : {colour_components, spinor_components})
    for (const Precision stored : {Precision::double_, Precision::single})
      for (const SmallMatrix& rotation : {any, kept}) {
        INFO(components << " components in " << name_of(stored));
        std::vector<HostField> expected;
        for (const bool in_host_memory : {false, true}) {
          Basis basis(lattice, 0, components, block, vectors, stored, in_host_memory);
          for (int first = 0; first < vectors; first += block) {
            const Field some = basis.field();
            write_noise(some, seed, static_cast<std::uint64_t>(first));
            basis.append(some);
          }
          basis.rotate(rotation);
          std::vector<HostField> rotated = battery::extracted(basis, left);
          if (!in_host_memory) {
            expected = std::move(rotated);
            continue;
          }
          for (std::size_t v = 0; v < expected.size(); ++v) CHECK(battery::same_bits(rotated[v], expected[v]));
        }
      }
}

}  // namespace eigen_test
