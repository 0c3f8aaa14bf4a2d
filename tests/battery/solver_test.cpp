// Every solver, precision, link format and Schur complement gives a solution whose residual the reference confirms; failures say why.
#include "codelets/actions/wilson/action.hpp"
#include "codelets/actions/wilson/even_odd.hpp"
#include "solvers/krylov/krylov.hpp"
#include "tests/battery/solver_support.hpp"

#include <cmath>

namespace solver_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 4711;

double reference_residual(const HostGauge& gauge, const WilsonParameters& parameters, const HostField& source, const HostField& solution) {
  const reference::Field b = battery::to_reference(source), x = battery::to_reference(solution);
  reference::Field mx = reference::wilson(gauge, parameters.kappa, x);
  if (parameters.normalisation == WilsonParameters::Normalisation::mass) mx = reference::Complex(1 / (2 * parameters.kappa)) * mx;
  return std::sqrt(reference::norm2(b - mx) / reference::norm2(b));
}

/// A^+ A, hermitian and positive.
class NormalOperator : public LinearOperator {
 public:
  explicit NormalOperator(LinearOperator& a) : a_(a), image_(a.field()) {}
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) override {
    a_.apply(image_, in, {}, false, guard);
    a_.apply(out, image_, sums, true, guard);
  }
  const runtime::PartialSums& sums() const override { return a_.sums(); }
  const LatticePointer& lattice() const override { return a_.lattice(); }
  int parity() const override { return a_.parity(); }
  int components() const override { return a_.components(); }
  int vectors() const override { return a_.vectors(); }

 private:
  LinearOperator& a_;
  Field image_;
};

}  // namespace

TEST_CASE("every solver reaches the tolerance that the reference confirms") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const std::string& name : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int reals : {18, 12, 8})
        for (const Schur schur : {Schur::asymmetric, Schur::symmetric}) {
          battery::SolveCase c;
          c.settings.solver = name;
          c.settings.precision = precision;
          c.settings.link_reals = reals;
          c.settings.schur = schur;
          c.settings.tolerance = 1e-10;
          // The two normalisations take turns, so that each meets each precision, link format and Schur complement.
          const bool by_mass = (static_cast<int>(precision) + reals / 6 + static_cast<int>(schur)) % 2 == 0;
          const WilsonParameters parameters{0.12, by_mass ? WilsonParameters::Normalisation::mass : WilsonParameters::Normalisation::kappa,
                                            antiperiodic_in_time};
          INFO(name << " " << name_of(precision) << " " << reals << " schur " << static_cast<int>(schur) << " by mass " << by_mass);
          const battery::SolveOutcome outcome = battery::solve_once(c, gauge, parameters, source);
          CHECK(outcome.result.reason == StopReason::converged);
          CHECK(outcome.result.true_residual <= 1e-10);
          const double checked = reference_residual(gauge, parameters, source, outcome.solution);
          CHECK(checked == doctest::Approx(outcome.result.true_residual).epsilon(1e-3));
          CHECK(outcome.result.iterations == static_cast<int>(outcome.result.residual_history.size()));
        }
}

TEST_CASE("reliable updates and defect correction reach what double precision reaches") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 20, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 21));
  const WilsonParameters parameters{0.125, {}, antiperiodic_in_time};
  for (const std::string& name : solver_names(false)) {
    battery::SolveCase c;
    c.settings.solver = name;
    c.settings.tolerance = 1e-11;
    const int in_double = battery::solve_once(c, gauge, parameters, source).result.iterations;
    for (const Precision precision : {Precision::single, Precision::half}) {
      int iterations[2];
      for (const Updates updates : {Updates::reliable, Updates::correction}) {
        c.settings.precision = precision;
        c.settings.updates = updates;
        INFO(name << " " << name_of(precision) << " updates " << static_cast<int>(updates));
        const battery::SolveOutcome outcome = battery::solve_once(c, gauge, parameters, source);
        CHECK(outcome.result.converged());
        CHECK(reference_residual(gauge, parameters, source, outcome.solution) <= 1.01e-11);
        iterations[updates == Updates::correction] = outcome.result.iterations;
      }
      MESSAGE(name << " " << name_of(precision) << ": " << in_double << " iterations in double, " << iterations[0]
                   << " with reliable updates, " << iterations[1] << " with defect correction");
      CHECK(iterations[0] <= 2 * in_double);
    }
  }
}

TEST_CASE("how far the submission runs ahead changes no bit") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 30, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 31));
  const WilsonParameters parameters{0.12, {}, antiperiodic_in_time};
  for (const std::string& name : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const double tolerance : {1e-4, 1e-9}) {
        battery::SolveCase c;
        c.settings.solver = name;
        c.settings.precision = precision;
        c.settings.tolerance = tolerance;
        const battery::SolveOutcome first = battery::solve_once(c, gauge, parameters, source);
        CHECK(first.result.converged());
        for (const int check_every : {3, 64}) {
          INFO(name << " " << name_of(precision) << " tolerance " << tolerance << " a look every " << check_every);
          c.settings.check_every = check_every;
          const battery::SolveOutcome outcome = battery::solve_once(c, gauge, parameters, source);
          CHECK(outcome.result.restarts == first.result.restarts);
          battery::check_same_bits(outcome, first);
        }
      }
}

TEST_CASE("CG on a hermitian positive operator") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 6, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 7));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition decomposition(lattice, {1, 1, 1, 2}, 1);
  const auto layout = std::make_shared<Lattice>(decomposition, Precision::double_, antiperiodic_in_time);
  LinkField even(layout, 0, 18), odd(layout, 1, 18);
  transfer::load_links(even, odd, gauge);
  wilson::Hopping hopping(even, odd);
  wilson::EvenOdd m(hopping, same_for_all(0.12), WilsonParameters{}, Schur::asymmetric);
  NormalOperator normal(m);
  const Field b = m.field(), x = m.field(), check = m.field();
  transfer::load(b, source);
  KrylovLimits limits{.target_norm2 = same_for_all(1e-20)};
  limits.most_iterations.fill(500);
  const KrylovResult result = solve_by(find_krylov_solver("cg")->make, normal, x, b, limits, {}).of_vectors.front();
  CHECK(result.reason == StopReason::converged);
  normal.apply(check, x, {}, false, {});
  HostField image(spinor_components, lattice);
  transfer::store(image, check);
  session.wait_all();
  const reference::Field difference = reference::restrict_to_parity(battery::to_reference(image) - battery::to_reference(source), 1);
  CHECK(std::sqrt(reference::norm2(difference)) < 1e-9);
}

TEST_CASE("an initial guess is used: the solution itself needs no iteration") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 2, 0.3);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 3));
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  SolverSettings settings;
  Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), wilson::Action(gauge, {0.12, {}, antiperiodic_in_time}), settings);
  HostField x(spinor_components, lattice);
  const SolveResult first = solver.solve(source, x);
  CHECK(first.converged());
  CHECK(first.iterations > 5);
  const SolveResult again = solver.solve(source, x);
  CHECK(again.converged());
  CHECK(again.iterations == 0);
}

TEST_CASE("failures end with their reason and never as converged") {
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 4, 0.3);
  HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 5));
  const WilsonParameters parameters{0.12, {}, antiperiodic_in_time};
  battery::SolveCase c;

  SUBCASE("iteration limit") {
    for (const std::string& name : solver_names(false)) {
      c.settings.solver = name;
      c.settings.max_iterations = 3;
      const SolveResult result = battery::solve_once(c, gauge, parameters, source).result;
      CHECK(result.reason == StopReason::iteration_limit);
      CHECK(result.iterations == 3);
      CHECK(result.true_residual > c.settings.tolerance);
    }
  }
  SUBCASE("NaN in the source") {
    source.data[5] = {std::nan(""), 0};
    CHECK(battery::solve_once(c, gauge, parameters, source).result.reason == StopReason::not_finite);
  }
  SUBCASE("a tolerance that double precision cannot reach") {
    c.settings.tolerance = 1e-18;
    const SolveResult result = battery::solve_once(c, gauge, parameters, source).result;
    CHECK_FALSE(result.converged());
    CHECK(result.true_residual < 1e-14);
  }
  SUBCASE("a zero source has the zero solution") {
    const battery::SolveOutcome outcome = battery::solve_once(c, gauge, parameters, HostField(spinor_components, lattice));
    CHECK(outcome.result.converged());
    for (const auto& value : outcome.solution.data) CHECK(value == 0.0);
  }
  SUBCASE("a zero source has the zero solution whatever the guess") {
    runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), wilson::Action(gauge, parameters), c.settings);
    HostField x = source;
    CHECK(solver.solve(HostField(spinor_components, lattice), x).converged());
    for (const auto& value : x.data) CHECK(value == 0.0);
  }
  SUBCASE("restarts stay within the iteration limit") {
    c.settings.precision = Precision::single;
    c.settings.tolerance = 1e-14;
    for (int limit = 1; limit < 20; ++limit) {
      c.settings.max_iterations = limit;
      const SolveResult result = battery::solve_once(c, gauge, parameters, source).result;
      CHECK(result.iterations <= limit);
      CHECK(static_cast<int>(result.residual_history.size()) == result.iterations);
    }
  }
  SUBCASE("a limit far above what is needed costs nothing") {
    c.settings.max_iterations = 2000000000;
    CHECK(battery::solve_once(c, gauge, parameters, source).result.converged());
  }
  SUBCASE("single precision solves for sources that it cannot square") {
    c.settings.precision = Precision::single;
    for (auto& value : source.data) value *= 1e-30;
    const SolveResult result = battery::solve_once(c, gauge, parameters, source).result;
    CHECK(result.converged());
  }
  SUBCASE("interrupted from the progress callback") {
    runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
    c.settings.tolerance = 1e-13;
    c.settings.check_every = 2;
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), wilson::Action(gauge, parameters), c.settings);
    HostField x(spinor_components, lattice);
    CHECK(solver.solve(source, x, [](int, double) { return false; }).reason == StopReason::interrupted);
  }
}

TEST_CASE("wrong settings are refused with the flag's name") {
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::unit_gauge(lattice);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  const runtime::Decomposition decomposition(lattice, {1, 1, 1, 1}, 1);
  SolverSettings settings;
  for (const char* name : {"gauss", "cg"}) {
    settings.solver = name;
    CHECK_THROWS_WITH(Solver(decomposition, wilson::Action(gauge, {}), settings), doctest::Contains("solver: "));
  }
  settings = {};
  settings.link_reals = 7;
  CHECK_THROWS_WITH(Solver(decomposition, wilson::Action(gauge, {}), settings), doctest::Contains("links: "));
  settings = {};
  settings.link_reals = 8;  // which cannot hold links off SU(3)
  for (const double factor : {1.001, std::nan("")}) {
    HostGauge stretched = gauge;
    stretched.link(17, 2)[4] *= factor;
    stretched.link(17, 2)[8] *= factor;
    CHECK_THROWS_WITH(Solver(decomposition, wilson::Action(stretched, {}), settings), doctest::Contains("link"));
  }
  settings = {};
  settings.tolerance = 0;
  CHECK_THROWS_WITH(Solver(decomposition, wilson::Action(gauge, {}), settings), doctest::Contains("tol: "));
}

}  // namespace solver_test
