// Domain wall and Moebius: even-odd operators of every architecture, precision and cut against the reference and bit for bit; the whole
// system, solves, and what is four-dimensional of them.
#include "codelets/actions/action_kind.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/footprint.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/normal_operator.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/domain_wall_support.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace domain_wall_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 57721;
constexpr Coord extents{4, 4, 4, 8};
constexpr std::size_t n = 2;

const std::vector<double> masses{0.1, 0.4};

std::vector<battery::WallCase> cases() {
  battery::WallCase varied{"Moebius of each slice", {1.5, 1.3, 1.2, 1, 1.1, 1.4}, {0.5, 0.3, 0.2, 0.1, 0, 0.4}};
  varied.nu = 1.2;
  varied.xi0 = 2.464;
  varied.m5 = 1.2;
  battery::WallCase anisotropic = battery::shamir(4, 1.2, 0.4);  // the numbers of Chroma's test
  anisotropic.name = "anisotropic Shamir";
  anisotropic.nu = 1.2;
  anisotropic.xi0 = 2.464;
  return {battery::shamir(6), battery::moebius(8, 1.5, 0.5), varied, anisotropic};
}

PerVector mass_of(std::span<const double> of) {
  return for_each_vector(of.size(), [&](std::size_t v) { return of[v]; });
}

std::unique_ptr<PreparedAction> prepared(const battery::WallCase& w, const battery::HoppingCase& c, const HostGauge& gauge, Schur schur) {
  const runtime::Decomposition decomposition(c.lattice, c.blocks, static_cast<int>(runtime::Session::current().workers().size()));
  return domain_wall::Action(gauge, w.parameters())
      .in_precision(decomposition, {c.precision, c.link_reals, schur, {}, {.tile = c.tile, .most_lanes = c.most_lanes, .measure = false}});
}

/// Mh psi_v by the package, for all v together; host fields [s n + v]. norms: |Mh psi_v|^2, |.|^2 and <psi_v, Mh psi_v> of the sums.
std::vector<HostField> computed(const battery::WallCase& w, const battery::HoppingCase& c, const HostGauge& gauge, Schur schur,
                                std::span<const HostField> psi, std::span<const double> of_mass, bool adjoint,
                                std::vector<double>* sums = nullptr) {
  const auto made = prepared(w, c, gauge, schur);
  const auto m = made->system(static_cast<int>(of_mass.size()), mass_of(of_mass));
  const Field in = m->field(), out = m->field();
  transfer::load(in, psi);
  m->apply(out, in, {.norm = true, .y = &in}, adjoint, {});
  std::vector<HostField> host(psi.size(), HostField(spinor_components, c.lattice));
  transfer::store(host, out);
  runtime::Session::current().wait_all();
  if (sums != nullptr) *sums = runtime::values_of(m->sums(), static_cast<int>(3 * of_mass.size()));
  return host;
}

/// Absolute, for random fields of order 1.
double rounding(Precision precision) { return precision == Precision::double_ ? 1e-12 : precision == Precision::single ? 1e-4 : 3e-2; }

}  // namespace

TEST_CASE("even-odd domain-wall operators equal the reference and have the same bits for every cut, architecture and number of vectors") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(extents, seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const battery::WallCase& w : cases()) {
    std::vector<reference::Slices> psi;
    for (std::size_t v = 0; v < n; ++v)
      psi.push_back(reference::restrict_to_parity(reference::random_slices(extents, w.b.size(), seed + 100 * (v + 1)), 1));
    const std::vector<HostField> host = battery::slices_to_host(psi);
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
      for (const bool adjoint : {false, true}) {
        std::vector<reference::Slices> expected;
        for (std::size_t v = 0; v < n; ++v)
          expected.push_back(w.reference(gauge, masses[v]).even_odd(psi[v], schur == Schur::symmetric, adjoint));
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
          INFO(std::string(w.name) << (schur == Schur::symmetric ? " symmetric" : " asymmetric") << (adjoint ? " adjoint " : " ")
                                   << std::string(name_of(precision)));
          std::vector<double> sums;
          std::vector<std::vector<HostField>> alone;
          std::vector<double> sums_alone(3 * n);
          for (std::size_t v = 0; v < n; ++v) {
            alone.push_back(computed(w, {extents, {1, 1, 1, 1}, precision}, gauge, schur, battery::slices_to_host({&psi[v], 1}),
                                     {&masses[v], 1}, adjoint, &sums));
            const reference::Slices got = battery::slices_of(alone[v], 0, 1);
            CHECK(reference::max_difference(reference::restrict_to_parity(got, 1), expected[v]) < rounding(precision));
            const double norm2 = reference::norm2(expected[v]);
            const reference::Complex dot = reference::inner(psi[v], expected[v]);
            CHECK(std::abs(sums[0] / norm2 - 1) < rounding(precision));
            CHECK(std::abs(reference::Complex(sums[1], sums[2]) - dot) < rounding(precision) * norm2);
            for (std::size_t i = 0; i < 3; ++i) sums_alone[i * n + v] = sums[i];
          }
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 2, 2, 2}})
            for (const int most_lanes : {16, 1})
              battery::for_architectures([&] {
                const battery::HoppingCase cut{extents, blocks, precision, 18, most_lanes};
                INFO(cut.text());
                const std::vector<HostField> together = computed(w, cut, gauge, schur, host, masses, adjoint, &sums);
                for (std::size_t i = 0; i < together.size(); ++i) CHECK(battery::same_bits(together[i], alone[i % n][i / n]));
                CHECK(sums == sums_alone);
              });
        }
      }
  }
}

TEST_CASE("the whole domain-wall operator equals the reference, and its adjoint is one") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(extents, seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 2}, 2);
  for (const battery::WallCase& w : cases()) {
    INFO(std::string(w.name));
    std::vector<reference::Slices> psi;
    for (std::size_t v = 0; v < n; ++v) psi.push_back(reference::random_slices(extents, w.b.size(), seed + 100 * (v + 1)));
    const std::vector<HostField> host = battery::slices_to_host(psi);
    Solver solver(decomposition, domain_wall::Action(gauge, w.parameters()), {.solver = "cgnr", .tune = false});
    for (const bool adjoint : {false, true}) {
      std::vector<HostField> images(host.size(), HostField(spinor_components, extents));
      solver.apply(host, masses, images, adjoint);
      for (std::size_t v = 0; v < n; ++v) {
        const reference::DomainWall m = w.reference(gauge, masses[v]);
        const reference::Slices got = battery::slices_of(images, v, n);
        CHECK(reference::max_difference(got, adjoint ? m.apply_dagger(psi[v]) : m.apply(psi[v])) < 1e-12);
        const reference::Complex left = reference::inner(psi[v], got),
                                 right = reference::inner(adjoint ? m.apply(psi[v]) : m.apply_dagger(psi[v]), psi[v]);
        CHECK(std::abs(left - right) < 1e-12 * reference::norm2(psi[v]));
      }
    }
  }
}

TEST_CASE("domain-wall solves: five-dimensional solutions, physical fields and midpoints, in every precision") {
  MESSAGE("seed " << seed);
  constexpr Coord small{4, 2, 2, 4};  // the reference is slow
  const HostGauge gauge = reference::near_unit_gauge(small, seed, 0.3);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const battery::WallCase& w : cases()) {
    std::vector<HostField> sources;
    std::vector<reference::Field> eta;
    for (std::size_t v = 0; v < n; ++v) {
      eta.push_back(reference::random_field(small, 4, seed + 7 * v));
      sources.push_back(battery::to_host(eta[v]));
    }
    std::vector<HostField> first;
    std::vector<SolveResult> of_first;
    for (const auto& [precision, schur, solver_name] : {std::tuple{Precision::double_, Schur::asymmetric, "cgnr"},
                                                        {Precision::double_, Schur::symmetric, "cgnr"},
                                                        {Precision::single, Schur::symmetric, "cgnr"},
                                                        {Precision::half, Schur::asymmetric, "cgnr"}}) {
      INFO(std::string(w.name) << " " << std::string(name_of(precision)));
      Solver solver(runtime::Decomposition(small, {1, 1, 1, 2}, 2), domain_wall::Action(gauge, w.parameters()),
                    {.solver = solver_name, .tolerance = 1e-11, .precision = precision, .schur = schur, .tune = false});
      std::vector<HostField> solutions(n, HostField(spinor_components, small));
      const std::vector<SolveResult> results = solver.solve(sources, masses, solutions);
      for (std::size_t v = 0; v < n; ++v) {
        CHECK(results[v].converged());
        CHECK(results[v].true_residual < 1.001e-11);
        REQUIRE(results[v].midpoint.size() == 2 * static_cast<std::size_t>(small[3]));
      }
      if (first.empty()) {
        first = solutions;
        of_first = results;
        continue;
      }
      for (std::size_t v = 0; v < n; ++v) {
        CHECK(reference::max_difference(battery::to_reference(solutions[v]), battery::to_reference(first[v])) < 1e-8);
        for (std::size_t t = 0; t < results[v].midpoint.size(); ++t)
          CHECK(std::abs(results[v].midpoint[t] / of_first[v].midpoint[t] - 1) < 1e-6);
      }
    }
    // The reference, for one right-hand side: conjugate gradients on all slices at once.
    const reference::DomainWall m = w.reference(gauge, masses[1]);
    const reference::Slices b = m.source(eta[1]);
    reference::Slices x(b.size(), reference::Field(small, 4)), r = m.apply_dagger(b), p = r;
    double norm2 = reference::norm2(r);
    const double target = 1e-24 * norm2;
    for (int iteration = 0; norm2 > target && iteration < 2000; ++iteration) {
      const reference::Slices image = m.apply(p), next = m.apply_dagger(image);
      const double alpha = norm2 / reference::norm2(image);
      for (std::size_t s = 0; s < x.size(); ++s) {
        x[s] = x[s] + alpha * p[s];
        r[s] = r[s] - alpha * next[s];
      }
      const double new_norm2 = reference::norm2(r), beta = new_norm2 / norm2;
      norm2 = new_norm2;
      for (std::size_t s = 0; s < p.size(); ++s) p[s] = r[s] + beta * p[s];
    }
    CHECK(reference::max_difference(battery::to_reference(first[1]), m.physical(x)) < 1e-8);
    const reference::Field midpoint = m.midpoint(x), wall = m.physical(x);
    const auto slice = static_cast<std::size_t>(12 * volume(small) / small[3]);
    for (std::size_t t = 0; t < static_cast<std::size_t>(small[3]); ++t) {
      double of_midpoint = 0, of_wall = 0;
      for (std::size_t i = t * slice; i < (t + 1) * slice; ++i) {
        of_midpoint += std::norm(midpoint.data[i]);
        of_wall += std::norm(wall.data[i]);
      }
      CHECK(std::abs(of_first[1].midpoint[t] / of_midpoint - 1) < 1e-8);
      CHECK(std::abs(of_first[1].midpoint[t + static_cast<std::size_t>(small[3])] / of_wall - 1) < 1e-8);
    }
  }
}

TEST_CASE("domain-wall histories have the same bits for cuts in four directions, policies and numbers of right-hand sides") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const battery::WallCase w = battery::moebius(8, 1.5, 0.5, 1.8, 0.2);
  const std::vector<double> stopping{w.mass, 0.4, 0.9};  // the others stop before the first
  std::vector<HostField> sources;
  for (std::size_t v = 0; v < 3; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
  const char* policies[] = {"static", "dmdas", "lws"};
  std::size_t turn = 0;  // policies take turns: each solves for one and for three in each precision
  for (const Precision precision : {Precision::double_, Precision::half}) {
    std::set<std::vector<double>> histories;
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 2}, Coord{1, 2, 2, 1}})
      for (const std::size_t together : {1, 3}) {
        const char* policy = policies[turn++ % std::size(policies)];
        runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
        Solver solver(runtime::Decomposition(lattice, blocks, 2), domain_wall::Action(gauge, w.parameters()),
                      {.solver = "cgnr", .precision = precision, .link_reals = 12, .keep_history = true, .tune = false});
        std::vector<HostField> solutions(together, HostField(spinor_components, lattice));
        const std::vector<SolveResult> results = solver.solve(
            {sources.data(), together}, {stopping.begin(), stopping.begin() + static_cast<std::ptrdiff_t>(together)}, solutions);
        CHECK(results[0].converged());
        for (std::size_t v = 1; v < together; ++v) CHECK(results[v].residual_history.size() < results[0].residual_history.size());
        std::vector<double> history = results[0].residual_history;
        history.insert(history.end(), results[0].midpoint.begin(), results[0].midpoint.end());
        histories.insert(history);
      }
    CHECK(histories.size() == 1);
  }
}

TEST_CASE("multi-shift conjugate gradients take the normal operator of five dimensions") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const battery::WallCase w = battery::moebius(6, 1.5, 0.5, 1.8, 0.2);
  const auto made = prepared(w, {extents, {1, 1, 1, 2}}, gauge, Schur::asymmetric);
  const auto m = made->system(1, same_for_all(w.mass));
  NormalOperator a(*m);
  const std::vector<double> shifts{0, 0.5};
  const Field x(a.lattice(), both_parities, spinor_components, 2), b(a.lattice(), both_parities, spinor_components), image = a.field();
  const reference::Slices source = reference::random_slices(extents, w.b.size(), seed);
  for (const int parity : {0, 1}) {
    const Field half(a.lattice(), parity, spinor_components);
    const std::vector<HostField> host = battery::slices_to_host({&source, 1});
    transfer::load(half, host);
    transfer::convert(b, half);
    session.wait_all();
  }
  KrylovLimits limits;
  limits.shifts = for_each_vector(2, [&](std::size_t v) { return shifts[v]; });
  for (std::size_t v = 0; v < 2; ++v) {
    limits.most_iterations[v] = 2000;
    limits.target_norm2[v] = 1e-20 * reference::norm2(source);
  }
  const KrylovResults results = solve_by(find_krylov_solver("multishift")->make, a, x, b, limits, {});
  std::vector<HostField> solutions(2 * w.b.size(), HostField(spinor_components, extents));
  for (const int parity : {0, 1}) {
    const Field half(a.lattice(), parity, spinor_components, 2);
    transfer::convert(half, x);
    transfer::store(solutions, half);
    session.wait_all();
  }
  const reference::DomainWall d = w.reference(gauge, w.mass);
  for (std::size_t v = 0; v < 2; ++v) {
    CHECK(results.of_vectors[v].reason == StopReason::converged);
    const reference::Slices y = battery::slices_of(solutions, v, 2);
    reference::Slices residual = d.apply(d.apply_dagger(y));
    for (std::size_t s = 0; s < residual.size(); ++s) residual[s] = residual[s] + shifts[v] * y[s] - source[s];
    CHECK(std::sqrt(reference::norm2(residual) / reference::norm2(source)) < 1e-9);
  }
}

TEST_CASE("a domain-wall solve allocates what its footprint says, and no more") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{8, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  SettingValues values;
  values["ls"] = 8;
  struct Subject {
    battery::WallCase w;
    const ActionKind& kind;
    Precision precision;
    std::size_t together;
  };
  const battery::WallCase moebius = battery::moebius(8, 1.5, 0.5, 1.8, 0.3);
  for (const auto& [w, kind, precision, together] : {Subject{moebius, moebius_kind(), Precision::double_, 1},
                                                     {moebius, moebius_kind(), Precision::double_, 3},
                                                     {moebius, moebius_kind(), Precision::half, 1},
                                                     {moebius, moebius_kind(), Precision::half, 3},
                                                     {battery::shamir(8, 1.8, 0.3), domain_wall_kind(), Precision::single, 1}}) {
    INFO(std::string(kind.name) << " " << std::string(name_of(precision)) << " right-hand sides " << together);
    std::vector<HostField> sources;
    for (std::size_t v = 0; v < together; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
    const SolverSettings settings{
        .solver = "cgnr", .tolerance = 1e-6, .precision = precision, .link_reals = 12, .updates = Updates::correction, .tune = false};
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
    const runtime::Decomposition decomposition(lattice, {1, 1, 2, 2}, 1);
    std::vector<HostField> solutions(together, HostField(spinor_components, lattice));
    const std::size_t before = runtime::host_memory_use().now;
    runtime::restart_peak();
    {
      Solver solver(decomposition, domain_wall::Action(gauge, w.parameters()), settings);
      for (const SolveResult& result : solver.solve(sources, std::vector<double>(together, w.mass), solutions)) CHECK(result.converged());
    }
    const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
    const int n_together = static_cast<int>(together);
    double estimated = 0;
    for (const Footprint& block : footprint(decomposition, settings, operator_shape(kind, values, settings), {&n_together, 1}))
      estimated += block.total();
    const double field = 8.0 * static_cast<double>(together) * static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
    CHECK(estimated > 0.99 * taken);
    CHECK(estimated < 1.01 * (taken + 2 * field));
  }
}

}  // namespace domain_wall_test
