// The Schwarz preconditioner against the reference; its bits; and what it does to GCR.
#include "codelets/actions/wilson/schwarz.hpp"

#include "codelets/actions/wilson/action.hpp"
#include "runtime/system/error.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/reference/schwarz.hpp"

#include <cmath>
#include <iterator>
#include <string>

namespace schwarz_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 31831;
constexpr double diagonal = 1.1, scale = -0.0169;

struct Case {
  Coord lattice{8, 4, 4, 8}, blocks{1, 1, 1, 1}, domain{4, 4, 4, 4};
  Precision precision = Precision::double_;
  int link_reals = 18, steps = 3;
  std::string policy = "static";
  int workers = 1, threads = 2;
};

/// K source in a session of its own.
HostField apply(const Case& c, const HostGauge& gauge, const HostField& source) {
  runtime::Session session({.cpu_workers = c.workers, .threads_per_worker = c.threads, .cuda_workers = 0, .policy = c.policy});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(c.lattice, c.blocks, c.workers), c.precision, antiperiodic_in_time,
                                                 LayoutRequest{.most_lanes = 16, .unit = c.domain});
  LinkField even(lattice, 0, c.link_reals), odd(lattice, 1, c.link_reals);
  transfer::load_links(even, odd, gauge);
  const wilson::Schwarz schwarz(even, odd, c.domain, c.steps, diagonal, scale);
  const Field in(lattice, 1, 12), out(lattice, 1, 12);
  transfer::load(in, source);
  schwarz.apply(out, in);
  HostField result(spinor_components, c.lattice);
  transfer::store(result, out);
  session.wait_all();
  return result;
}

double relative_difference(const HostField& a, const reference::Field& b) {
  return std::sqrt(reference::norm2(battery::to_reference(a) - b) / reference::norm2(b));
}

SolverSettings gcr(const std::optional<SchwarzSettings>& schwarz) {
  SolverSettings settings;
  settings.solver = "gcr";
  settings.schwarz = schwarz;
  return settings;
}

}  // namespace

TEST_CASE("the Schwarz preconditioner equals the reference") {
  MESSAGE("seed " << seed);
  for (const Coord& lattice : {Coord{8, 4, 4, 8}, Coord{4, 4, 6, 8}}) {
    const HostGauge gauge = reference::random_gauge(lattice, seed);
    const reference::Field psi = reference::random_field(lattice, 4, seed + 1);
    for (const Coord& domain : {Coord{4, 4, 2, 4}, Coord{2, 2, 2, 2}, lattice, Coord{4, 2, lattice[2], 2}})
      for (const int steps : {1, 4}) {
        const reference::Field expected = reference::schwarz(gauge, psi, domain, steps, diagonal, scale);
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
          for (const int reals : {18, 12, 8}) {
            INFO("domain " << domain[0] << domain[1] << domain[2] << domain[3] << " steps " << steps << " " << name_of(precision)
                           << " links " << reals);
            const Case c{.lattice = lattice, .domain = domain, .precision = precision, .link_reals = reals, .steps = steps};
            const double rounding = precision == Precision::double_ ? 1e-13 : precision == Precision::single ? 1e-5 : 1e-3;
            CHECK(relative_difference(apply(c, gauge, battery::to_host(psi)), expected) < rounding);
          }
      }
  }
}

TEST_CASE("a domain without a source stays zero") {
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::random_gauge(lattice, seed + 2);
  const HostField source = battery::to_host(reference::point_source(lattice, 4, {1, 2, 3, 5}, 1, 2));
  const HostField result = apply({}, gauge, source);
  for (std::int64_t site = 0; site < volume(lattice); ++site) {
    const Coord x = coordinates(site, lattice);
    const bool inside = x[0] < 4 && x[3] >= 4;
    double norm2 = 0;
    for (int c = 0; c < spinor_components; ++c)
      norm2 += std::norm(result.data[static_cast<std::size_t>(site) * spinor_components + static_cast<std::size_t>(c)]);
    CHECK(std::isfinite(norm2));
    if (!inside || parity_of(x) == 0) CHECK(norm2 == 0);
  }
}

TEST_CASE("the Schwarz preconditioner: same bits for every cut, layout, worker count, policy and architecture") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::random_gauge(lattice, seed + 3);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 4));
  const char* policies[] = {"static", "eager", "dmdas", "halo-first", "lws"};
  std::size_t turn = 0;  // policies take turns: in three precisions each cut and number of workers meets three of them
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const Case first{.lattice = lattice, .precision = precision, .link_reals = 12};
    const HostField expected = apply(first, gauge, source);
    for (const Coord& blocks : {Coord{1, 1, 1, 2}, Coord{2, 1, 2, 1}, Coord{2, 2, 2, 2}})
      for (const int workers : {1, 2}) {
        Case other = first;
        other.blocks = blocks;
        other.policy = policies[turn++ % std::size(policies)];
        other.workers = workers;
        other.threads = workers == 1 ? 3 : 1;
        INFO(name_of(precision) << " " << other.policy << " workers " << workers << " blocks " << blocks[0] << blocks[1] << blocks[2]
                                << blocks[3]);
        CHECK(battery::same_bits(apply(other, gauge, source), expected));
      }
    battery::for_architectures([&] {
      INFO(name_of(precision) << " " << arch::name_of(arch::current()));
      CHECK(battery::same_bits(apply(first, gauge, source), expected));
    });
  }
}

TEST_CASE("GCR with Schwarz domains: residual histories have the same bits whatever runs them, and take fewer applications and sums") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 5, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 6));
  const WilsonParameters parameters{0.13, {}, antiperiodic_in_time};
  const char* policies[] = {"static", "eager", "lws", "dmdas", "prio"};
  std::size_t turn = 0;
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    battery::SolveCase plain;
    plain.settings.precision = precision;
    const int bicgstab = battery::solve_once(plain, gauge, parameters, source).result.iterations;
    battery::SolveCase c;
    c.settings = gcr(SchwarzSettings{});
    c.settings.precision = precision;
    const battery::SolveOutcome first = battery::solve_once(c, gauge, parameters, source);
    CHECK(first.result.converged());
    const int preconditioned = first.result.iterations;
    // An iteration of GCR is one application and two sums over the lattice, one of BiCGStab two and three.
    MESSAGE(name_of(precision) << ": applications " << preconditioned << " (BiCGStab " << 2 * bicgstab << "), sums " << 2 * preconditioned
                               << " (BiCGStab " << 3 * bicgstab << ")");
    CHECK(preconditioned < 2 * bicgstab);
    CHECK(2 * preconditioned < 3 * bicgstab);
    const reference::Field b = battery::to_reference(source), x = battery::to_reference(first.solution);
    CHECK(std::sqrt(reference::norm2(b - reference::wilson(gauge, parameters.kappa, x)) / reference::norm2(b)) < 1.01e-10);
    const auto check = [&](const battery::SolveCase& other) {
      const battery::SolveOutcome outcome = battery::solve_once(other, gauge, parameters, source);
      battery::check_same_bits(outcome, first);
    };
    for (const Coord& blocks : {Coord{1, 1, 1, 2}, Coord{1, 2, 2, 2}})
      for (const int workers : {1, 2}) {
        battery::SolveCase other = c;
        other.blocks = blocks;
        other.policy = policies[turn++ % std::size(policies)];
        other.workers = workers;
        other.threads = workers == 1 ? 2 : 1;
        INFO(name_of(precision) << " " << other.policy << " workers " << workers << " blocks " << blocks[1]);
        check(other);
      }
    for (const int check_every : {1, 40}) {
      battery::SolveCase other = c;
      other.settings.check_every = check_every;
      check(other);
    }
  }
}

TEST_CASE("more steps need fewer iterations, larger domains no more; restarts cost some") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 7, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 8));
  const auto iterations = [&](const std::optional<SchwarzSettings>& schwarz, int restart) {
    battery::SolveCase c;
    c.settings = gcr(schwarz);
    c.settings.restart = restart;
    const SolveResult result = battery::solve_once(c, gauge, {0.13, {}, antiperiodic_in_time}, source).result;
    CHECK(result.converged());
    return result.iterations;
  };
  const int none = iterations({}, 16), few = iterations(SchwarzSettings{{4, 4, 4, 4}, 2}, 16),
            more = iterations(SchwarzSettings{{4, 4, 4, 4}, 6}, 16);
  const int large = iterations(SchwarzSettings{{8, 8, 8, 8}, 6}, 16);
  MESSAGE("iterations: " << none << " without, " << few << " with 2 steps on 4^4, " << more << " with 6, " << large << " with 6 on 8^4");
  CHECK(few < none);
  CHECK(more < few);
  CHECK(large <= more);
  CHECK(iterations({}, 2) >= none);
}

TEST_CASE("Schwarz domains that do not fit are refused") {
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::unit_gauge(lattice);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  const auto refuse = [&](const Coord& blocks, SolverSettings settings, const char* what) {
    CHECK_THROWS_WITH(Solver(runtime::Decomposition(lattice, blocks, 1), wilson::Action(gauge, {}), settings), doctest::Contains(what));
  };
  refuse({1, 1, 1, 1}, gcr(SchwarzSettings{{4, 4, 4, 3}, 4}), "even numbers");
  refuse({1, 1, 1, 1}, gcr(SchwarzSettings{{4, 4, 6, 4}, 4}), "divisor");
  refuse({1, 1, 1, 2}, gcr(SchwarzSettings{{4, 4, 4, 8}, 4}), "would cut domains");
  refuse({1, 1, 1, 1}, gcr(SchwarzSettings{{4, 4, 4, 4}, 0}), "schwarz-steps: ");
  SolverSettings settings = gcr(SchwarzSettings{});
  settings.solver = "bicgstab";
  refuse({1, 1, 1, 1}, settings, "use the solver gcr");
  settings = gcr({});
  settings.restart = 33;
  refuse({1, 1, 1, 1}, settings, "restart: ");
}

}  // namespace schwarz_test
