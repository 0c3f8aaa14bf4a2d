// Domain wall and Moebius on a GPU, bit for bit against the CPU's: both Schur complements, their adjoints and sums, solves and their
// midpoints; shifted systems; all with sites in the lanes and with slices in them.
#include "solvers/solver.hpp"
#include "solvers/solver_choice.hpp"
#include "tests/battery/domain_wall_support.hpp"
#include "tests/gpu/support.hpp"

namespace domain_wall_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 57721;

/// Mh psi_v for all v together, [s n + v], then |.|^2 and <psi_v, .>.
struct Images {
  std::vector<HostField> fields;
  std::vector<double> sums;
};
Images images(const battery::WallCase& w, const HostGauge& gauge, std::span<const HostField> psi, int n, const battery::HoppingCase& c,
              Schur schur, bool adjoint, int vectors_in_lanes = 1) {
  const runtime::Decomposition decomposition(c.lattice, c.blocks, runtime::Session::current().block_owners());
  const auto prepared =
      domain_wall::Action(gauge, w.parameters())
          .in_precision(
              decomposition,
              {c.precision, c.link_reals, schur, {}, {.most_lanes = c.most_lanes, .vectors_in_lanes = vectors_in_lanes, .measure = false}});
  const auto m = prepared->system(n, same_for_all(w.mass));
  const Field in = m->field(), out = m->field();
  transfer::load(in, psi);
  m->apply(out, in, {.norm = true, .y = &in}, adjoint, {});
  Images made{std::vector<HostField>(psi.size(), HostField(spinor_components, c.lattice)), {}};
  transfer::store(made.fields, out);
  runtime::Session::current().wait_all();
  made.sums = runtime::values_of(m->sums(), 3 * n);
  return made;
}

/// Whether lanes can hold so many slices.
bool can_be_in_lanes(int slices) { return slices == 8 || slices == 12 || slices == 16; }

std::vector<battery::WallCase> cases() {
  return {battery::shamir(12),
          battery::moebius(8, 1.5, 0.5),
          battery::moebius(16, 1.5, 0.5),  // several slices a thread, in some formats
          battery::shamir(32),             // in all
          battery::moebius(26, 1.5, 0.5),  // the last pass is not full
          {"Moebius of each slice", {1.5, 1.3, 1.2, 1, 1.1, 1.4}, {0.5, 0.3, 0.2, 0.1, 0, 0.4}}};
}

/// What a solve makes.
struct Made {
  std::vector<HostField> solutions;
  std::vector<double> numbers;
};
/// solve(Solver) makes the same bits on a GPU, uncut and cut, with sites and with slices in the lanes, as on a CPU.
template <class Solve>
void check_solves(const battery::WallCase& w, const HostGauge& gauge, const Coord& cut, Solve&& solve) {
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    INFO(std::string(w.name) << " " << std::string(name_of(precision)));
    const auto solve_on = [&](const Coord& blocks, int in_lanes = 1) {
      const runtime::Decomposition decomposition(gauge.extents, blocks, runtime::Session::current().block_owners());
      Solver solver(decomposition, domain_wall::Action(gauge, w.parameters()),
                    {.solver = "cgnr", .precision = precision, .link_reals = 12, .keep_history = true, .tune = false},
                    {.vectors_in_lanes = in_lanes});
      return solve(solver);
    };
    Made expected;
    {
      runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
      expected = solve_on({1, 1, 1, 1});
    }
    runtime::Session gpu({.cuda_workers = 1});
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, cut})
      for (const int in_lanes : {1, static_cast<int>(w.b.size())}) {
        if (in_lanes > 1 && (!can_be_in_lanes(in_lanes) || precision == Precision::half)) continue;
        INFO("cut " << (blocks == cut) << ", in lanes " << in_lanes);
        const Made made = solve_on(blocks, in_lanes);
        CHECK(made.numbers == expected.numbers);
        for (std::size_t i = 0; i < made.solutions.size(); ++i) CHECK(battery::same_bits(made.solutions[i], expected.solutions[i]));
      }
  }
}

}  // namespace

TEST_CASE("domain wall on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu domain wall");
  MESSAGE("seed " << seed);
  struct Subject {
    Coord lattice;
    int n, reals;
  };
  for (const Subject& subject : {Subject{{8, 8, 8, 8}, 1, 12}, Subject{{8, 8, 8, 8}, 2, 12}, Subject{{8, 4, 6, 4}, 2, 18}})
    for (const battery::WallCase& w : cases()) {
      if (static_cast<int>(w.b.size()) * subject.n > most_vectors) continue;
      const HostGauge gauge = reference::near_unit_gauge(subject.lattice, seed, 0.3);
      std::vector<HostField> psi;
      for (std::size_t i = 0; i < w.b.size() * static_cast<std::size_t>(subject.n); ++i)
        psi.push_back(battery::to_host(reference::random_field(subject.lattice, 4, seed + 1 + i)));
      const auto for_operators = [&](auto&& body) {
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
          for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
            for (const bool adjoint : {false, true}) body(precision, schur, adjoint);
      };
      std::vector<Images> expected;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        for_operators([&](Precision precision, Schur schur, bool adjoint) {
          expected.push_back(
              images(w, gauge, psi, subject.n, {subject.lattice, {1, 1, 1, 1}, precision, subject.reals, 16}, schur, adjoint));
        });
      }
      runtime::Session gpu({.cuda_workers = 1});
      std::size_t at = 0;
      for_operators([&](Precision precision, Schur schur, bool adjoint) {
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 2, 2, 1}})
          for (const auto& [most_lanes, in_lanes] : {std::pair{16, 1}, {1, 1}, {16, static_cast<int>(w.b.size())}}) {
            if (in_lanes > 1 && (!can_be_in_lanes(in_lanes) || precision == Precision::half)) continue;
            const battery::HoppingCase c{subject.lattice, blocks, precision, subject.reals, most_lanes};
            INFO(std::string(w.name) << ", n " << subject.n << std::string(schur == Schur::symmetric ? ", symmetric" : ", asymmetric")
                                     << std::string(adjoint ? ", adjoint, " : ", ") << c.text() << " in lanes " << in_lanes);
            const Images made = images(w, gauge, psi, subject.n, c, schur, adjoint, in_lanes);
            for (std::size_t i = 0; i < psi.size(); ++i) CHECK(battery::same_bits(made.fields[i], expected[at].fields[i]));
            CHECK(made.sums == expected[at].sums);
          }
        ++at;
      });
    }
}

TEST_CASE("a domain-wall solve on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu domain-wall solve");
  MESSAGE("seed " << seed);
  struct Subject {
    battery::WallCase w;
    Coord lattice;
    std::vector<double> masses;  // they stop one after the other
  };
  for (const auto& [w, lattice, masses] : {Subject{battery::moebius(8, 1.5, 0.5, 1.8, 0.1), {8, 8, 8, 8}, {0.1, 0.3, 0.9}},
                                           Subject{battery::shamir(12, 1.8, 0.1), {6, 6, 6, 6}, {0.1, 0.9}}}) {
    const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
    std::vector<HostField> sources;
    for (std::size_t v = 0; v < masses.size(); ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
    check_solves(w, gauge, {1, 1, 2, 2}, [&, lattice = lattice, masses = masses](Solver& solver) {
      Made made{std::vector<HostField>(sources.size(), HostField(spinor_components, lattice)), {}};
      for (const SolveResult& result : solver.solve(sources, masses, made.solutions)) {
        CHECK(result.converged());
        made.numbers.insert(made.numbers.end(), result.residual_history.begin(), result.residual_history.end());
        made.numbers.insert(made.numbers.end(), result.midpoint.begin(), result.midpoint.end());
      }
      return made;
    });
  }
}

TEST_CASE("slices lie in lanes where one GPU works alone on a lattice that nothing cuts") {
  QUARKSTAR_NEEDS_GPU("gpu domain-wall lanes");
  const runtime::Session gpu({.cuda_workers = 1});
  constexpr Coord lattice{8, 8, 8, 8};
  const auto chosen = [&](int slices, const SolverSettings& settings, const Coord& blocks = {1, 1, 1, 1}) {
    constexpr int one = 1;
    return vectors_in_lanes_for({lattice, blocks, gpu.block_owners()}, spinor_components, slices, settings, {&one, 1});
  };
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const char* const solver : {"cgnr", "multishift", "blockcg"})
      for (const int slices : {4, 8, 10, 12, 16, 32}) {
        INFO(std::string(name_of(precision)) << " " << std::string(solver) << " " << slices);
        const bool in_lanes = can_be_in_lanes(slices) && precision != Precision::half && solver != std::string("blockcg");
        const SolverSettings settings{.solver = solver, .precision = precision, .link_reals = 12};
        CHECK(chosen(slices, settings) == (in_lanes ? slices : 1));
        CHECK(chosen(slices, settings, {1, 1, 1, 2}) == 1);
        SolverSettings recycles = settings;
        recycles.recycle = 8;
        CHECK(chosen(slices, recycles) == 1);
      }
}

TEST_CASE("shifted systems of domain wall on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu domain-wall shifts");
  MESSAGE("seed " << seed);
  struct Subject {
    battery::WallCase w;
    Coord lattice;
    std::vector<double> shifts;  // they stop one after the other
  };
  for (const auto& [w, lattice, shifts] : {Subject{battery::shamir(6, 1.8, 0.2), {8, 8, 4, 8}, {0.02, 0, 1.5}},
                                           Subject{battery::moebius(8, 1.5, 0.5, 1.8, 0.3), {8, 8, 4, 8}, {0.02, 0, 1.5}},
                                           Subject{battery::moebius(12, 1.5, 0.5, 1.8, 0.3), {6, 6, 6, 6}, {0.02, 1.5}}}) {
    const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
    const std::vector<double> tolerances(shifts.size(), 1e-9);
    std::vector<HostField> b, each;  // of one vector, and in each
    for (std::size_t s = 0; s < w.b.size(); ++s) {
      b.push_back(battery::to_host(reference::random_field(lattice, 4, seed + s)));
      each.insert(each.end(), shifts.size(), b.back());
    }
    check_solves(w, gauge, {1, 1, 1, 2}, [&, mass = w.mass, lattice = lattice, shifts = shifts](Solver& solver) {
      Made made{std::vector<HostField>(each.size(), HostField(spinor_components, lattice)), {}};
      const auto load = [&](const Field& field) { transfer::load(field, field.vectors() == 1 ? b : each); };
      for (const SolveResult& result :
           solver.solve_normal(load, mass, shifts, tolerances, [&](const Field& x) { transfer::store(made.solutions, x); })) {
        CHECK(result.converged());
        made.numbers.insert(made.numbers.end(), result.residual_history.begin(), result.residual_history.end());
      }
      return made;
    });
  }
}

}  // namespace domain_wall_test
