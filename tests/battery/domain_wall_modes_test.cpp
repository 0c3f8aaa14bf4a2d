// Modes of domain wall and Moebius: against dense matrices of the reference, their bits, files, memory, and solves that begin with them.
#include "apps/run/eigen_run.hpp"
#include "apps/run/hdf5_file.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/small_matrices.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/domain_wall_support.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/unit/app_testing.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace domain_wall_modes_test {

using namespace quarkstar;
using app::Hdf5Id;

namespace {

constexpr std::uint64_t seed = 271828;
constexpr Coord small{2, 2, 2, 4};
constexpr std::size_t ls = 4;
constexpr int components = spinor_components, at_site = components * static_cast<int>(ls);

/// Mh^+ Mh on odd sites by the reference; numbers are [site][slice][component].
SmallMatrix dense(const reference::DomainWall& d, bool symmetric) {
  std::vector<std::size_t> sites;
  for (std::int64_t site = 0; site < volume(small); ++site)
    if (parity_of(coordinates(site, small)) == 1) sites.push_back(static_cast<std::size_t>(site));
  const auto dimension = static_cast<Eigen::Index>(sites.size()) * at_site;
  SmallMatrix m(dimension, dimension);
  for (Eigen::Index column = 0; column < dimension; ++column) {
    reference::Slices unit(ls, reference::Field(small, 4));
    const auto place = [&](Eigen::Index i) -> std::pair<std::size_t, std::size_t> {  // slice, and number in it
      const auto site = sites[static_cast<std::size_t>(i / at_site)], in_site = static_cast<std::size_t>(i % at_site);
      return {in_site / components, site * components + in_site % components};
    };
    unit[place(column).first].data[place(column).second] = 1;
    const reference::Slices image = d.even_odd(unit, symmetric, false);
    for (Eigen::Index row = 0; row < dimension; ++row) m(row, column) = image[place(row).first].data[place(row).second];
  }
  return m.adjoint() * m;
}

/// The order of dense(), which is that of stored vectors.
Eigen::VectorXcd numbers_of(const app::StoredVector& vector) {
  Eigen::VectorXcd numbers(static_cast<Eigen::Index>(vector.size() / sizeof(std::complex<double>)));
  std::memcpy(numbers.data(), vector.data(), vector.size());
  return numbers;
}
std::span<const HostField> slices_of_mode(std::span<const HostField> vectors, std::size_t mode) { return vectors.subspan(mode * ls, ls); }

struct Outcome {
  EigenResult result;
  std::vector<HostField> vectors;  ///< all slices of each mode
};

Outcome solved(const app::EigenOperator& a, const EigenSettings& settings) {
  BlockLanczos lanczos = a.lanczos(settings);
  Outcome outcome{lanczos.solve(), {}};
  REQUIRE(outcome.result.converged);
  outcome.vectors = battery::extracted(lanczos, settings.modes);
  return outcome;
}

}  // namespace

TEST_CASE("modes at both ends of domain wall and Moebius are those of the reference's dense matrix, with the same bits on a cut") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(small, {1, 1, 1, 1}, 1), cut(small, {1, 1, 1, 2}, 2);
  const HostGauge gauge = reference::near_unit_gauge(small, seed, 0.3);
  for (const auto& [w, schur] : {std::pair{battery::shamir(ls), Schur::asymmetric},
                                 {battery::moebius(ls, 1.5, 0.5), Schur::asymmetric},
                                 {battery::moebius(ls, 1.5, 0.5), Schur::symmetric}}) {
    const SmallMatrix matrix = dense(w.reference(gauge, w.mass), schur == Schur::symmetric);
    const Eigen::VectorXd all = Eigen::SelfAdjointEigenSolver<SmallMatrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
    const domain_wall::Action action(gauge, w.parameters());
    for (const app::SpectrumEnd end : {app::SpectrumEnd::lowest, app::SpectrumEnd::highest})
      for (const auto& [basis, block] : {std::pair{Precision::double_, 4}, {Precision::double_, 8}, {Precision::single, 4}}) {
        const std::string what = fmt::format("{}{} {}, block {}, basis in {}", w.name, schur == Schur::symmetric ? " symmetric" : "",
                                             app::name_of(end), block, name_of(basis));
        INFO(what);
        const EigenSettings settings{.modes = 10, .block = block, .basis_precision = basis};
        const app::EigenTarget target{.end = end};
        const Outcome outcome = solved(app::EigenOperator(action, whole, w.mass, schur, settings, false, target), settings);
        double most = 0;
        for (std::size_t i = 0; i < outcome.result.values.size(); ++i) {
          INFO("mode " << i);
          const auto at = static_cast<Eigen::Index>(i);
          const double value = outcome.result.values[i];
          CHECK(value == doctest::Approx(end == app::SpectrumEnd::lowest ? all(at) : all(all.size() - 1 - at)).epsilon(1e-10));
          const Eigen::VectorXcd v = numbers_of(app::compact(slices_of_mode(outcome.vectors, i), 0, 1, 1, Precision::double_));
          REQUIRE(v.size() == matrix.rows());
          CHECK(v.norm() == doctest::Approx(1).epsilon(1e-10));
          const double residual = (matrix * v - value * v).norm();
          CHECK(residual < 1.1 * settings.tolerance);
          most = std::max(most, residual);
        }
        MESSAGE(what << ": |A v - lambda v| up to " << most << ", " << outcome.result.state.restarts << " restarts");
        const Outcome on_two = solved(app::EigenOperator(action, cut, w.mass, schur, settings, false, target), settings);
        CHECK(on_two.result.values == outcome.result.values);
        CHECK(on_two.result.residuals == outcome.result.residuals);
        for (std::size_t i = 0; i < outcome.vectors.size(); ++i) CHECK(battery::same_bits(on_two.vectors[i], outcome.vectors[i]));
      }
  }
}

TEST_CASE("files of five-dimensional modes state the residuals of what is in them, and come back as they were") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const HostGauge gauge = reference::near_unit_gauge(small, seed, 0.3);
  const battery::WallCase w = battery::moebius(ls, 1.5, 0.5);
  const SmallMatrix matrix = dense(w.reference(gauge, w.mass), false);
  const EigenSettings settings{.modes = 5, .block = 2};
  const domain_wall::Action action(gauge, w.parameters());
  const app::EigenOperator a(action, runtime::Decomposition(small, {1, 1, 1, 1}, 1), w.mass, Schur::asymmetric, settings, false);
  BlockLanczos lanczos = a.lanczos(settings);
  const EigenResult result = lanczos.solve();
  REQUIRE(result.converged);
  const testing::TemporaryFolder folder;
  for (const Precision stored : {Precision::double_, Precision::single, Precision::half}) {
    INFO(std::string(name_of(stored)));
    const std::string path = folder.file(std::string(name_of(stored)));
    app::EigenHeader header{"any problem", small, components, (*a).parity(), {}, {}, {}, stored, static_cast<int>(ls)};
    const app::EigenVectorsOf of = app::stored_modes(header, result, *a, lanczos);
    app::write_eigen_file(path, header, settings.modes, settings.block, {{}, small}, of);
    const app::EigenFile file(path, "");
    CHECK(file.header().slices == static_cast<int>(ls));
    CHECK(file.header().stored == stored);
    CHECK(file.header().values == result.values);
    CHECK(file.header().residuals == header.residuals);
    CHECK(file.vectors() == settings.modes);
    // By the library alone.
    const Eigen::Index n = matrix.rows();
    if (stored != Precision::half) {
      SmallMatrix numbers(n, settings.modes);
      const Hdf5Id opened(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose),
          dataset(H5Dopen2(opened, "vectors", H5P_DEFAULT), H5Dclose), space(H5Dget_space(dataset), H5Sclose);
      std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
      H5Sget_simple_extent_dims(space, shape.data(), nullptr);
      CHECK(shape == std::vector<hsize_t>{5, 4, 2, 2, 1, ls, 12});
      REQUIRE(H5Dread(dataset, app::complex_type(H5T_NATIVE_DOUBLE), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const Eigen::VectorXcd v = numbers.col(static_cast<Eigen::Index>(i));
        const double residual = (matrix * v - result.values[i] * v).norm() / v.norm();
        CHECK(std::abs(residual - header.residuals[i]) < 1e-13 + 1e-6 * residual);
      }
    }
    CHECK(*std::max_element(header.residuals.begin(), header.residuals.end()) < (stored == Precision::double_  ? 1e-10
                                                                                 : stored == Precision::single ? 1e-4
                                                                                                               : 1e-1));
    int v = 0;
    file.read({{}, small}, 3, [&](std::span<const HostField> read) {
      const int count = static_cast<int>(read.size() / ls);
      for (int i = 0; i < count; ++i, ++v) CHECK(app::compact(read, i, count, header.parity, stored) == of(v, 1).front());
    });
    CHECK(v == settings.modes);
  }
}

TEST_CASE("a basis of five-dimensional vectors takes what is estimated") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{8, 8, 8, 8};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const battery::WallCase w = battery::moebius(ls, 1.5, 0.5);
  const domain_wall::Action action(reference::near_unit_gauge(lattice, seed, 0.3), w.parameters());
  const EigenSettings settings{.modes = 4, .degree = 4};
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const app::EigenOperator a(action, whole, w.mass, Schur::asymmetric, settings, false);
  const std::size_t before = runtime::host_memory_use().now;
  runtime::restart_peak();
  {
    BlockLanczos lanczos = a.lanczos(settings);
    (void)lanczos.solve([&](const LanczosState& state, int) { return state.restarts < 2; });
  }
  const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
  const double estimated =
      basis_bytes(whole.block(0), static_cast<int>(ls) * components, fields_for(settings, components, static_cast<int>(ls)));
  MESSAGE("taken " << taken << " bytes, estimated " << estimated);
  CHECK(taken < 1.02 * estimated);
  CHECK(estimated < 1.5 * taken);
}

TEST_CASE("solves for domain wall that begin with modes from a file take fewer iterations, with the same bits on a cut and alone") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{4, 4, 4, 4};
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1), cut(lattice, {1, 1, 1, 2}, 2);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.1);
  const testing::TemporaryFolder folder;
  for (const battery::WallCase& w : {battery::shamir(ls, 1.2, 0.02), battery::moebius(ls, 1.5, 0.5, 1.2, 0.02)}) {
    const domain_wall::Action action(gauge, w.parameters());
    const EigenSettings eigen{.modes = 24, .tolerance = 1e-8};
    const std::string path = folder.file(w.name);
    {
      const app::EigenOperator a(action, whole, w.mass, Schur::asymmetric, eigen, false);
      BlockLanczos lanczos = a.lanczos(eigen);
      const EigenResult result = lanczos.solve();
      REQUIRE(result.converged);
      app::EigenHeader header{"any problem", lattice, components, (*a).parity(), {}, {}, {}, Precision::double_, static_cast<int>(ls)};
      const app::EigenVectorsOf of = app::stored_modes(header, result, *a, lanczos);
      app::write_eigen_file(path, header, eigen.modes, eigen.block, {{}, lattice}, of);
    }
    std::vector<HostField> sources;
    for (std::size_t v = 0; v < 2; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
    for (const Precision precision : {Precision::double_, Precision::half}) {
      const std::string what = fmt::format("{} {}", w.name, name_of(precision));
      INFO(what);
      const SolverSettings settings{.solver = "cgnr", .tolerance = 1e-10, .precision = precision, .tune = false};
      const auto solve = [&](const runtime::Decomposition& on, std::size_t together, bool deflated, std::vector<HostField>& solutions) {
        Solver solver(on, action, settings);
        if (deflated) solver.set_projector(app::load_projector(path, "any problem", solver.lattice(), ModesMemory::device), w.mass);
        solutions.assign(together, HostField(components, lattice));
        return solver.solve({sources.data(), together}, std::vector<double>(together, w.mass), solutions);
      };
      std::vector<HostField> plain, known, of_cut, alone;
      const std::vector<SolveResult> before = solve(whole, 2, false, plain), after = solve(whole, 2, true, known);
      solve(cut, 2, true, of_cut);
      solve(whole, 1, true, alone);
      CHECK(battery::same_bits(alone[0], known[0]));
      for (std::size_t v = 0; v < 2; ++v) {
        MESSAGE(what << ": " << before[v].iterations << " iterations, deflated " << after[v].iterations);
        CHECK(after[v].converged());
        CHECK(after[v].true_residual < 1.001e-10);
        CHECK(1.25 * after[v].iterations < before[v].iterations);
        CHECK(reference::max_difference(battery::to_reference(known[v]), battery::to_reference(plain[v])) < 1e-7);
        CHECK(battery::same_bits(of_cut[v], known[v]));
      }
    }
  }
}

}  // namespace domain_wall_modes_test
