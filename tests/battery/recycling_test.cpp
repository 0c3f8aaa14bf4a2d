// Modes that solves gather for those after them: the space against dense algebra, fewer iterations, true residuals, bits.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/field/blas.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "solvers/footprint.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/battery/recycling_support.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <numeric>

namespace recycling_test {

using namespace quarkstar;
using battery::most_iterations;
using battery::solve_groups;
using battery::TogetherOutcome;

namespace {

constexpr std::uint64_t seed = 20261204;
constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

void load(const Field& to, std::span<const HostField> vectors) {
  transfer::load(to, vectors);
  runtime::Session::current().wait_all();
}

}  // namespace

TEST_CASE("a recycled space is the inverse of A on what was added to it, for any shift") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const wilson::Action action(gauge, {.kappa = 0.13});
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  constexpr int n = 3, groups = 4;  // 16 vectors with those that fill up
  std::vector<HostField> all, in;
  for (int v = 0; v < n * groups; ++v)
    all.push_back(battery::to_host(reference::random_field(extents, 4, seed + 100 + static_cast<std::uint64_t>(v))));
  for (HostField& field : all)  // of lengths that differ by much
    for (auto& c : field.data) c *= std::pow(10., static_cast<double>(&field - all.data()) - 6);
  for (int v = 0; v < n; ++v)
    in.push_back(battery::to_host(reference::random_field(extents, 4, seed + 200 + static_cast<std::uint64_t>(v))));
  const PerVector shifts{0, 0.5, 2};
  std::vector<HostField> first_out;
  for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}) {
    const runtime::Decomposition decomposition(extents, blocks, 2);
    battery::HermitianOperator a(decomposition, action, n);
    RecycledSpace space((*a).lattice(), (*a).parity(), spinor_components, 8);
    CHECK(space.is_empty());
    const Field d = (*a).field(), image = (*a).field(), out = (*a).field();
    for (int group = 0; group < groups; ++group) {
      load(d, std::span(all).subspan(static_cast<std::size_t>(n * group), n));
      (*a).apply(image, d, {}, false, {});
      space.add(d, image);
    }
    load(d, in);
    space.apply(out, d, shifts);
    std::vector<HostField> result(n, HostField(spinor_components, extents));
    transfer::store(result, out);
    session.wait_all();
    if (first_out.empty()) first_out = result;
    for (int v = 0; v < n; ++v) CHECK(battery::same_bits(result[static_cast<std::size_t>(v)], first_out[static_cast<std::size_t>(v)]));

    // V (V^+ (A + s) V)^-1 V^+ in, from host fields and a factorisation.
    const int parity = (*a).parity();
    const auto flat = [&](const HostField& field) {
      Eigen::VectorXcd vector(static_cast<Eigen::Index>(field.data.size()));
      for (std::int64_t site = 0; site < volume(extents); ++site)
        for (int c = 0; c < spinor_components; ++c)
          vector(site * spinor_components + c) = parity_of(coordinates(site, extents)) == parity ? field.at(site, c) : 0;
      return vector;
    };
    const std::vector<HostField> images = battery::images_of(*a, all);
    Eigen::MatrixXcd v(static_cast<Eigen::Index>(all[0].data.size()), n * groups), av = v;
    for (int i = 0; i < n * groups; ++i) {
      const double length = flat(all[static_cast<std::size_t>(i)]).norm();
      v.col(i) = flat(all[static_cast<std::size_t>(i)]) / length;
      av.col(i) = flat(images[static_cast<std::size_t>(i)]) / length;
    }
    for (int w = 0; w < n; ++w) {
      const double shift = shifts[static_cast<std::size_t>(w)];
      const Eigen::MatrixXcd small = v.adjoint() * (av + shift * v);
      const Eigen::VectorXcd expected = v * small.ldlt().solve(v.adjoint() * flat(in[static_cast<std::size_t>(w)]));
      CHECK((flat(result[static_cast<std::size_t>(w)]) - expected).norm() < 1e-10 * expected.norm());
    }
  }
}

TEST_CASE("a recycled space keeps the lowest modes, and leaves out what is zero or not finite") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const wilson::Action action(gauge, {.kappa = 0.13});
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, 1);
  constexpr int modes = 24, kept = 12, n = 4;
  battery::HermitianOperator a(decomposition, action, n);
  BlockLanczos lanczos(*a, {.modes = modes, .tolerance = 1e-11, .block = n});
  const EigenResult exact = lanczos.solve();
  REQUIRE(exact.converged);
  RecycledSpace space((*a).lattice(), (*a).parity(), spinor_components, kept);
  const Field d = (*a).field(), image = (*a).field();
  const auto add = [&] {
    (*a).apply(image, d, {}, false, {});
    space.add(d, image);
  };
  for (const double number : {0., std::nan("")}) {
    blas::submit<blas::Fill>({&d}, {0.0});
    blas::submit<blas::Scale>({&d, &d}, {number});
    add();
    CHECK(space.is_empty());
  }
  // Seven times four combinations of 24 eigenvectors; the last of them find no room.
  for (int group = 0; group < 7; ++group) {
    SmallMatrix mix(modes, n);
    mix.setZero();
    for (int i = 0; i < modes; ++i)
      for (int v = 0; v < n; ++v)
        mix(i, v) = {std::cos(1.7 * i * (v + 1) + group * group * 0.3 + v), std::sin(0.9 * i * (group + 2) * (v + 1) - 2 * v)};
    lanczos.combine(d, mix);
    add();
  }
  const std::vector<double> values = space.values();
  REQUIRE(values.size() >= kept);
  for (std::size_t i = 0; i < kept; ++i) CHECK(values[i] == doctest::Approx(exact.values[i]).epsilon(1e-8));
}

TEST_CASE("staggered: solves of one operator gather low modes, and the last take at most half of the first's iterations") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{8, 8, 8, 8};
  constexpr double mass = 0.002;
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed, 0.1);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const staggered::Action action(links);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 2), cut(lattice, {1, 1, 1, 2}, 2);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 12, seed + 5);
  for (const Precision precision : precisions) {
    INFO(name_of(precision));
    SolverSettings settings = battery::staggered_settings("cg", precision);
    Solver plain(whole, action, settings);
    settings.recycle = 24;
    Solver solver(whole, action, settings);
    settings.check_every = 5;
    Solver other(cut, action, settings);
    const std::vector<TogetherOutcome> outcomes = solve_groups(solver, sources, 4, mass);
    const TogetherOutcome without = battery::solve_together(plain, std::span(sources).first(4), std::vector<double>(4, mass));
    MESSAGE(name_of(precision) << ": " << most_iterations(without) << " iterations; " << most_iterations(outcomes[0]) << ", "
                               << most_iterations(outcomes[1]) << ", " << most_iterations(outcomes[2]));
    CHECK(2 * most_iterations(outcomes.back()) <= most_iterations(without));
    CHECK(2 * most_iterations(outcomes.back()) <= most_iterations(outcomes.front()));
    for (std::size_t v = 0; v < sources.size(); ++v) {
      const TogetherOutcome& outcome = outcomes[v / 4];
      CHECK(outcome.results[v % 4].converged());
      CHECK(battery::true_residual(reference_links, mass, sources[v], outcome.solutions[v % 4]) < 1.01e-10);
    }
    battery::check_same_bits(solve_groups(other, sources, 4, mass), outcomes);
    if (precision != Precision::double_) continue;
    // The first ones know nothing; that they pause changes no residual.
    for (std::size_t v = 0; v < 4; ++v) CHECK(outcomes[0].results[v].residual_history == without.results[v].residual_history);
    // What was gathered at one mass serves another.
    const TogetherOutcome heavier = battery::solve_together(solver, std::span(sources).first(2), std::vector<double>{0.01, 0.005}),
                          alone = battery::solve_together(plain, std::span(sources).first(2), std::vector<double>{0.01, 0.005});
    CHECK(3 * most_iterations(heavier) <= 2 * most_iterations(alone));
    for (std::size_t v = 0; v < 2; ++v)
      CHECK(battery::true_residual(reference_links, v == 0 ? 0.01 : 0.005, sources[v], heavier.solutions[v]) < 1.01e-10);
  }
}

TEST_CASE("Wilson: two sources of twelve columns, with cgnr, in every precision and Schur complement") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 20, 0.3);
  const WilsonParameters parameters{.kappa = 0.158};
  const wilson::Action action(gauge, parameters);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 2), cut(extents, {1, 1, 1, 2}, 2);
  std::vector<HostField> sources;
  for (std::uint64_t v = 0; v < 24; ++v) sources.push_back(battery::to_host(reference::random_field(extents, 4, seed + 40 + v)));
  for (const Precision precision : precisions) {
    SolverSettings settings = battery::settings_of("cgnr", precision);
    settings.recycle = 48;
    settings.schur = precision == Precision::single ? Schur::symmetric : Schur::asymmetric;
    INFO(name_of(precision));
    Solver solver(whole, action, settings), other(cut, action, settings);
    const std::vector<TogetherOutcome> outcomes = solve_groups(solver, sources, 12, parameters.kappa);
    MESSAGE(name_of(precision) << ": " << most_iterations(outcomes[0]) << ", " << most_iterations(outcomes[1]) << " iterations");
    // So small a lattice has few modes between the lowest and the others: on 8^3 x 16 it is half (docs/howto/eigen.md).
    CHECK(4 * most_iterations(outcomes[1]) <= 3 * most_iterations(outcomes[0]));
    for (std::size_t v = 0; v < sources.size(); ++v) {
      CHECK(outcomes[v / 12].results[v % 12].converged());
      const reference::Field b = battery::to_reference(sources[v]);
      const reference::Field x = battery::to_reference(outcomes[v / 12].solutions[v % 12]);
      CHECK(std::sqrt(reference::norm2(b - reference::wilson(gauge, parameters.kappa, x)) / reference::norm2(b)) < 1.01e-10);
    }
    battery::check_same_bits(solve_groups(other, sources, 12, parameters.kappa), outcomes);
    if (precision != Precision::double_) continue;
    // Another kappa begins anew.
    const TogetherOutcome elsewhere = battery::solve_together(solver, std::span(sources).first(2), std::vector<double>(2, 0.12));
    settings.recycle = 0;
    Solver plain(whole, action, settings);
    const TogetherOutcome expected = battery::solve_together(plain, std::span(sources).first(2), std::vector<double>(2, 0.12));
    for (std::size_t v = 0; v < 2; ++v) CHECK(elsewhere.results[v].residual_history == expected.results[v].residual_history);
  }
}

TEST_CASE("pauses: limits of iterations hold, and the work is counted") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 20, 0.1);
  const wilson::Action action(gauge, {.kappa = 0.1275});
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  const HostField source = battery::to_host(reference::random_field(extents, 4, seed + 70));
  for (const auto& [name, most] : {std::pair{"cgnr", 5}, {"cgnr", 8}, {"cgnr", 20}, {"bicgstab", 20}, {"gcr", 8}, {"gcr", 20}}) {
    INFO(name << " " << most);
    SolverSettings settings = battery::settings_of(name, Precision::double_);
    settings.max_iterations = most;
    settings.recycle = 0;
    Solver plain(whole, action, settings);
    settings.recycle = 8;
    Solver pausing(whole, action, settings);
    HostField x(spinor_components, extents), y(spinor_components, extents);
    const SolveResult expected = plain.solve(source, x), result = pausing.solve(source, y);
    CHECK(result.reason == StopReason::iteration_limit);
    CHECK(result.iterations == most);
    CHECK(result.residual_history == expected.residual_history);
    CHECK(result.flops > expected.flops);
    CHECK(result.flops < 3 * expected.flops);
  }
}

TEST_CASE("a solve that gathers ends at the look after its progress has said so, as a plain one does") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 20, 0.3);
  constexpr double kappa = 0.158;
  const wilson::Action action(gauge, {.kappa = kappa});
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  std::vector<HostField> sources;
  for (std::uint64_t v = 0; v < 2; ++v) sources.push_back(battery::to_host(reference::random_field(extents, 4, seed + 500 + v)));
  const std::vector<double> kappas(2, kappa);
  for (const Precision precision : precisions) {
    INFO(name_of(precision));
    SolverSettings settings = battery::settings_of("cgnr", precision);
    settings.recycle = 24;
    Solver solver(whole, action, settings), undisturbed(whole, action, settings);
    for (const int looks : {1, 3}) {
      INFO("looks " << looks);
      int seen = 0;
      std::vector<HostField> solutions(2, HostField(spinor_components, extents));
      const std::vector<SolveResult> results = solver.solve(sources, kappas, solutions, [&](int, double) { return ++seen < looks; });
      CHECK(seen == looks);
      for (std::size_t v = 0; v < 2; ++v) {
        CHECK(results[v].reason == StopReason::interrupted);
        CHECK(results[v].iterations == 8 * looks);
        const reference::Field b = battery::to_reference(sources[v]), x = battery::to_reference(solutions[v]);
        const double residual = std::sqrt(reference::norm2(b - reference::wilson(gauge, kappa, x)) / reference::norm2(b));
        CHECK(residual == doctest::Approx(results[v].true_residual).epsilon(1e-10));
      }
    }
    // Progress that lets a solve go on changes no bits; the space that was gathered until then serves the next solve.
    std::vector<HostField> solutions(2, HostField(spinor_components, extents));
    Solver watched(whole, action, settings);
    int looks = 0;
    const std::vector<SolveResult> with = watched.solve(sources, kappas, solutions, [&](int, double) { return ++looks > 0; });
    const TogetherOutcome without = battery::solve_together(undisturbed, sources, kappas);
    const TogetherOutcome after = battery::solve_together(solver, sources, kappas);
    CHECK(looks >= without.results[0].iterations / 8);
    for (std::size_t v = 0; v < 2; ++v) {
      CHECK(with[v].residual_history == without.results[v].residual_history);
      CHECK(after.results[v].converged());
    }
  }
}

TEST_CASE("solves on the other parity leave a space as it is, and are plain ones") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{8, 8, 8, 8};
  constexpr double mass = 0.002;
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed, 0.1), battery::naik_weight);
  const staggered::Action action(links);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 2, seed + 5);
  for (const Precision precision : {Precision::double_, Precision::single}) {
    INFO(name_of(precision));
    SolverSettings settings = battery::staggered_settings("cg", precision);
    Solver plain(whole, action, settings);
    settings.recycle = 32;
    Solver solver(whole, action, settings), alone(whole, action, settings);
    const auto on = [&](Solver& by, int parity) {
      const std::vector<double> masses(2, mass);
      TogetherOutcome outcome{{}, std::vector<HostField>(2, HostField(colour_components, lattice))};
      outcome.results = by.solve(sources, masses, outcome.solutions, {}, {}, {}, {.parity = parity});
      return outcome;
    };
    const TogetherOutcome expected = on(plain, 1), before = on(alone, 0), last = on(alone, 0);
    std::vector<TogetherOutcome> got;
    for (const int parity : {0, 1, 0, 1}) got.push_back(on(solver, parity));
    CHECK(3 * most_iterations(last) <= 2 * most_iterations(before));
    for (std::size_t v = 0; v < 2; ++v) {
      battery::check_same_bits(got[0], v, before, v);
      battery::check_same_bits(got[1], v, expected, v);
      battery::check_same_bits(got[2], v, last, v);
      battery::check_same_bits(got[3], v, expected, v);
    }
  }
}

TEST_CASE("recycling is refused by name where it cannot be") {
  const Coord extents{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  const wilson::Action action(gauge, {.kappa = 0.12});
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  SolverSettings settings = battery::settings_of("multigrid", Precision::double_);
  settings.recycle = 16;
  settings.multigrid = MultigridSettings{.aggregate = {2, 2, 2, 2}, .levels = 2};
  CHECK_THROWS_WITH_AS(Solver(whole, action, settings), doctest::Contains("recycle: multigrid gathers no modes"), Error);
  settings.solver = "gcr";
  CHECK_THROWS_WITH_AS(Solver(whole, action, settings), doctest::Contains("recycle: multigrid leaves no low modes"), Error);
  settings.multigrid.reset();
  settings.solver = "cgnr";
  for (const int modes : {-1, 7, 129}) {
    settings.recycle = modes;
    CHECK_THROWS_WITH_AS(Solver(whole, action, settings), doctest::Contains("recycle: "), Error);
  }
  settings.recycle = 16;
  Solver solver(whole, action, settings);
  CHECK_THROWS_WITH_AS(solver.set_projector(nullptr, 0.12), doctest::Contains("recycle: solves begin with modes that they gather"), Error);
  const std::vector<HostField> sources(2, battery::to_host(reference::random_field(extents, 4, seed)));
  std::vector<HostField> solutions(2, HostField(spinor_components, extents));
  CHECK_THROWS_WITH_AS(solver.solve(sources, std::vector<double>{0.12, 0.11}, solutions), doctest::Contains("recycle: "), Error);
}

TEST_CASE("solves that gather take the memory that their footprint says") {
  MESSAGE("seed " << seed);
  const Coord extents{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  constexpr double kappa = 0.15;
  std::vector<HostField> sources;
  for (std::uint64_t v = 0; v < 36; ++v) sources.push_back(battery::to_host(reference::random_field(extents, 4, seed + 300 + v)));
  struct Case {
    Precision precision;
    int modes, n;
    Coord blocks;
    const char* solver = "cgnr";
  };
  // In each the space is full, and shrinks; the last is the largest there is, on many blocks.
  for (const Case& of : {Case{Precision::double_, 24, 4, {1, 1, 1, 2}},
                         {Precision::single, 24, 4, {1, 1, 1, 2}},
                         {Precision::single, 24, 4, {1, 1, 1, 2}, "bicgstab"},
                         {Precision::double_, 24, 4, {1, 1, 1, 2}, "gcr"},
                         {Precision::single, RecycledSpace::most_modes, 12, {1, 2, 2, 2}}}) {
    const Precision precision = of.precision;
    const int n = of.n;
    INFO(std::string(of.solver) << " " << name_of(precision));
    SolverSettings settings = battery::settings_of(of.solver, precision);
    settings.recycle = of.modes;
    settings.tolerance = of.modes > 24 ? 1e-10 : 1e-8;
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
    const runtime::Decomposition decomposition(extents, of.blocks, 1);
    const std::size_t before = runtime::host_memory_use().now;
    runtime::restart_peak();
    int iterations = 0;
    {
      Solver solver(decomposition, wilson::Action(gauge, {.kappa = kappa}), settings);
      const auto together = static_cast<std::size_t>(n);
      for (const TogetherOutcome& outcome :
           solve_groups(solver, {sources.begin(), sources.begin() + (of.modes > 24 ? 3 : 2) * n}, together, kappa))
        iterations = std::max(iterations, most_iterations(outcome));
    }
    const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
    double estimated = 0;
    for (const Footprint& block : footprint(decomposition, settings, operator_shape(kind_named("wilson"), {}, settings), {&n, 1}))
      estimated += block.total();
    MESSAGE(std::string(of.solver) << " " << name_of(precision) << ": " << iterations << " iterations, " << taken << " bytes of "
                                   << estimated);
    CHECK(estimated > 0.97 * taken);
    CHECK(estimated < 1.1 * taken);
  }
}

}  // namespace recycling_test
