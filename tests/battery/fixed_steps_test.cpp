// A fixed number of Krylov steps as GCR's preconditioner: the reference confirms the solutions, iterations get fewer, and no bit depends on
// what runs them.
#include "solvers/krylov/fixed_steps.hpp"

#include "runtime/system/error.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/together_support.hpp"

#include <cmath>
#include <iterator>
#include <set>

namespace fixed_steps_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 52917;
const WilsonParameters parameters{0.13, {}, antiperiodic_in_time};

SolverSettings gcr(const std::string& inner, int steps, Precision precision) {
  SolverSettings settings = battery::settings_of("gcr", precision);
  if (steps > 0) settings.inner = InnerSolver{inner, steps};
  return settings;
}

double residual_of(const HostGauge& gauge, double kappa, const HostField& source, const HostField& solution) {
  const reference::Field b = battery::to_reference(source);
  return std::sqrt(reference::norm2(b - reference::wilson(gauge, kappa, battery::to_reference(solution))) / reference::norm2(b));
}

/// out = in on the first half of the sites in memory, -in on the second.
class Signs : public LinearOperator {
 public:
  Signs(LatticePointer lattice, int vectors) : lattice_(std::move(lattice)), vectors_(vectors), sums_(1, 3 * vectors), image_(field()) {}
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    static const runtime::Codelet codelet("test.signs", run);
    const BlockGeometry& block = lattice_->block(0);
    const std::int64_t numbers = block.outer_sites() * lattice_->lanes().lanes * 24 * vectors_;
    runtime::submit(codelet, numbers, {runtime::out(image_.block(0)), runtime::in(in.block(0))});
    blas::submit<blas::Scale>({&out, &image_}, {1.0}, guard);
    if (sums.norm && sums.y != nullptr) blas::submit<blas::NormDot>({&out, sums.y}, {}, guard, &sums_);
    else if (sums.norm) blas::submit<blas::Norm>({&out}, {}, guard, &sums_);
    else if (sums.y != nullptr) blas::submit<blas::Dot>({&out, sums.y}, {}, guard, &sums_);
  }
  const runtime::PartialSums& sums() const override { return sums_; }
  const LatticePointer& lattice() const override { return lattice_; }
  int parity() const override { return 1; }
  int components() const override { return spinor_components; }
  int vectors() const override { return vectors_; }

 private:
  static void run(runtime::Call& call) {
    const auto numbers = call.arguments<std::int64_t>();
    const double* in = call.buffer<const double>(1);
    double* out = call.buffer<double>(0);
    for (std::int64_t i = 0; i < numbers; ++i) out[i] = i < numbers / 2 ? in[i] : -in[i];
  }
  LatticePointer lattice_;
  int vectors_;
  runtime::PartialSums sums_;
  Field image_;
};

}  // namespace

TEST_CASE("GCR preconditioned by a few steps of a solver reaches the tolerance that the reference confirms, in fewer iterations") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    battery::SolveCase c;
    const auto iterations = [&](const std::string& inner, int steps) {
      INFO(inner << " " << steps << " " << name_of(precision));
      c.settings = gcr(inner, steps, precision);
      const battery::SolveOutcome outcome = battery::solve_once(c, gauge, parameters, source);
      CHECK(outcome.result.converged());
      CHECK(residual_of(gauge, parameters.kappa, source, outcome.solution) < 1.01e-10);
      return outcome.result.iterations;
    };
    const int plain = iterations("", 0);
    for (const std::string& inner : solver_names(false)) {
      // Steps of cgnr are of A^+ A, whose first gain little.
      const int few = iterations(inner, 3), more = iterations(inner, 10);
      MESSAGE(name_of(precision) << ": " << plain << " iterations alone, " << few << " with 3 steps of " << inner << ", " << more
                                 << " with 10");
      CHECK(few < plain);
      // In half precision an iteration gains more than its residual is true to, and the refresh waits for the end of a cycle.
      CHECK(more < (precision == Precision::half ? plain : few));
    }
  }
}

TEST_CASE("GCR with fixed steps: same bits for every cut, worker count, policy, architecture and batch") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 10, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 11));
  const char* policies[] = {"static", "eager", "lws", "dmdas", "prio"};
  constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};
  std::size_t turn = 0, precision_turn = 0;  // policies and precisions take turns
  for (const std::string& inner : solver_names(false)) {
    const Precision precision = precisions[precision_turn++ % std::size(precisions)];
    battery::SolveCase c;
    c.settings = gcr(inner, 5, precision);
    c.settings.restart = 4;  // the inner GCR ends within a cycle
    const battery::SolveOutcome first = battery::solve_once(c, gauge, parameters, source);
    CHECK(first.result.converged());
    const auto check = [&](const battery::SolveCase& other) {
      INFO(inner << " " << name_of(precision) << " " << other.policy << " workers " << other.workers << " blocks " << other.blocks[1]
                 << " every " << other.settings.check_every);
      battery::check_same_bits(battery::solve_once(other, gauge, parameters, source), first);
    };
    for (const Coord& blocks : {Coord{1, 1, 1, 2}, Coord{1, 2, 2, 2}})
      for (const int workers : {1, 2}) {
        battery::SolveCase other = c;
        other.blocks = blocks;
        other.policy = policies[turn++ % std::size(policies)];
        other.workers = workers;
        other.threads = workers == 1 ? 2 : 1;
        check(other);
      }
    for (const int check_every : {1, 40}) {
      battery::SolveCase other = c;
      other.settings.check_every = check_every;
      check(other);
    }
    battery::SolveCase joined = c;
    joined.blocks = {1, 1, 1, 2};
    joined.workers = 2;
    joined.threads = 1;
    joined.join = true;
    check(joined);
    battery::for_architectures([&] { check(c); });
  }
}

TEST_CASE("GCR with fixed steps: any number of right-hand sides has the bits of as many single solves, and stops one by one") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr std::size_t n = 8;
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 20, 0.4);
  const wilson::Action action(gauge, parameters);
  std::vector<HostField> sources;
  std::vector<double> kappas;
  for (std::size_t v = 0; v < n; ++v) {
    sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + 21 + v)));
    kappas.push_back(0.09 + 0.005 * static_cast<double>(3 * v % n));
  }
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const std::string& inner : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 2}, 1), action, gcr(inner, 3, precision));
      const battery::TogetherOutcome together = battery::solve_together(solver, sources, kappas);
      std::set<int> different;
      for (std::size_t v = 0; v < n; ++v) {
        INFO(inner << " " << name_of(precision) << " number " << v);
        different.insert(together.results[v].iterations);
        CHECK(together.results[v].converged());
        CHECK(residual_of(gauge, kappas[v], sources[v], together.solutions[v]) < 1.01e-10);
        battery::check_same_bits(together, v, battery::solve_together(solver, {&sources[v], 1}, {&kappas[v], 1}), 0);
      }
      CHECK(different.size() > 1);
    }
}

TEST_CASE(
    "fixed steps: a recurrence that breaks down at once leaves what it was given, and is as new the next time; a caller's vectors that "
    "have stopped keep theirs") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 4};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const auto lattice =
      std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), Precision::double_, antiperiodic_in_time);
  constexpr int n = 3;
  Signs a(lattice, n);
  // Sums of +1 and -1 are exact: <r, A r> = 0. The other source is not orthogonal to its image.
  HostField ones(spinor_components, extents);
  std::fill(ones.data.begin(), ones.data.end(), 1.0);
  const HostField random = battery::to_host(reference::restrict_to_parity(reference::random_field(extents, 4, seed + 40), 1));
  const std::vector<HostField> all_ones(n, ones), all_random(n, random);
  const Field breaking = a.field(), good = a.field(), out = a.field();
  transfer::load(breaking, all_ones);
  transfer::load(good, all_random);
  const auto result = [&] {
    std::vector<HostField> host(n, HostField(spinor_components, extents));
    transfer::store(host, out);
    session.wait_all();
    return host;
  };
  for (const char* name : {"bicgstab", "cg", "gcr"}) {
    INFO(name);
    const FixedSteps steps(a, *find_krylov_solver(name), 3, 8);
    steps.apply(out, good, {});
    const std::vector<HostField> expected = result();
    CHECK_FALSE(battery::same_bits(expected[0], random));
    steps.apply(out, breaking, {});
    for (const HostField& one : result())
      for (std::int64_t site = 0; site < volume(extents); ++site)
        if (parity_of(coordinates(site, extents)) == 1) CHECK(one.data[static_cast<std::size_t>(site) * spinor_components] == 1.0);
    steps.apply(out, good, {});
    for (const HostField& one : result()) CHECK(battery::same_bits(one, expected[0]));

    KrylovState status{};
    status.vectors = n;
    status.stopped[1] = 1;
    const runtime::GraphState<KrylovState> caller(status, 1, 0);
    blas::submit<blas::Fill>({&out}, {2.0});
    steps.apply(out, good, runtime::Guard(&caller.handle()).keeping());
    std::vector<HostField> masked = result();
    CHECK(battery::same_bits(masked[0], expected[0]));
    CHECK(battery::same_bits(masked[2], expected[0]));
    status.status.stop = 1;
    const runtime::GraphState<KrylovState> stopped(status, 1, 0);
    steps.apply(out, breaking, runtime::Guard(&stopped.handle()).keeping());
    const std::vector<HostField> kept = result();
    for (std::size_t v = 0; v < n; ++v) CHECK(battery::same_bits(kept[v], masked[v]));
    blas::submit<blas::Fill>({&out}, {2.0});
    CHECK(battery::same_bits(result()[1], masked[1]));
  }
}

TEST_CASE("inner solvers that do not fit are refused") {
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::unit_gauge(lattice);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  const auto refuse = [&](const SolverSettings& settings, const char* what) {
    CHECK_THROWS_WITH(Solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), wilson::Action(gauge, {}), settings),
                      doctest::Contains(what));
  };
  refuse(gcr("cg", 3, Precision::double_), "inner-solver: 'cg' is no inner solver for this action; use one of bicgstab, cgnr, gcr");
  refuse(gcr("blockcg", 3, Precision::double_), "inner-solver: ");
  SolverSettings settings = gcr("bicgstab", 3, Precision::double_);
  settings.inner->steps = 0;
  refuse(settings, "inner-steps: 0 steps");
  settings = gcr("bicgstab", 3, Precision::double_);
  settings.schwarz = SchwarzSettings{};
  refuse(settings, "inner-solver: there is a preconditioner already");
  settings.schwarz.reset();
  settings.solver = "bicgstab";
  refuse(settings, "use the solver gcr");
}

}  // namespace fixed_steps_test
