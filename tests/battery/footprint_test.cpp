// The estimate of a solve's memory against what the runtime then allocates.
#include "solvers/footprint.hpp"

#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

namespace footprint_test {

using namespace quarkstar;

namespace {

std::vector<Footprint> wilson_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings, int vectors = 1) {
  return footprint(decomposition, settings, operator_shape(kind_named("wilson"), {}, settings), {&vectors, 1});
}

std::vector<Footprint> staggered_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings, bool hops_far,
                                           std::span<const int> vectors, int vectors_in_lanes = 1) {
  return footprint(decomposition, settings, operator_shape(kind_named(hops_far ? "hisq" : "naive"), {}, settings), vectors,
                   vectors_in_lanes);
}

constexpr std::uint64_t seed = 16180;

double total_of(const std::vector<Footprint>& blocks) {
  double total = 0;
  for (const Footprint& block : blocks) total += block.total();
  return total;
}

/// Smooth links, on which solves are quick.
smear::StaggeredLinks smooth_links(const Coord& lattice, bool hops_far) {
  constexpr double scale = -1 / 24.;
  reference::StaggeredLinks links{reference::near_unit_gauge(lattice, seed, 0.3), reference::near_unit_gauge(lattice, seed + 1, 0.3)};
  for (double& real : links.naik.data) real *= scale;
  return battery::with_phases(links, hops_far ? scale : 0);
}

/// Bytes of host memory that `body` takes at its peak.
template <class Body>
double peak_bytes(Body&& body) {
  const std::size_t before = runtime::host_memory_use().now;
  runtime::restart_peak();
  body();
  return static_cast<double>(runtime::host_memory_use().peak - before);
}

}  // namespace

// The estimate holds for any number of passes with or without reliable updates; a single pass lacks one field of one parity (the even part
// of the correction comes after the Krylov solver's vectors have gone), corrections without refreshes another (the outer system's image).
TEST_CASE("a solve allocates what its footprint says, and no more") {
  MESSAGE("seed " << seed);
  const Coord lattice{16, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{0.11, {}, antiperiodic_in_time};
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int reals : {18, 12})
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}}) {
          INFO(solver << " " << name_of(precision) << " links " << reals << " blocks " << blocks[2] << blocks[3]);
          SolverSettings settings;
          settings.solver = solver;
          settings.precision = precision;
          settings.link_reals = reals;
          settings.updates = Updates::correction;
          settings.tolerance = 1e-6;
          settings.max_iterations = 500;
          runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0, .lane_bytes = reals == 12 ? 32 : 64});
          const runtime::Decomposition decomposition(lattice, blocks, 1);
          const double taken = peak_bytes([&] {
            Solver wilson(decomposition, wilson::Action(gauge, parameters), settings);
            HostField solution(spinor_components, lattice);
            CHECK(wilson.solve(source, solution).converged());
          });
          const double estimated = total_of(wilson_footprint(decomposition, settings));
          const double field = static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
          CHECK(estimated > 0.995 * taken);
          CHECK(estimated < 1.005 * (taken + field));
        }
}

// Of all that is counted, fields, faces and partial sums come once for each right-hand side.
TEST_CASE("a Wilson solve of several right-hand sides allocates what its footprint says, and no more") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  const auto check = [&](const std::string& name, Precision precision, int reals, const Coord& blocks, std::size_t n,
                         const std::optional<InnerSolver>& inner = {}) {
    INFO(name << " " << name_of(precision) << " links " << reals << " blocks " << blocks[2] << blocks[3] << " right-hand sides " << n);
    std::vector<HostField> sources;
    for (std::size_t v = 0; v < n; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + 1 + v)));
    SolverSettings settings;
    settings.solver = name;
    settings.precision = precision;
    settings.link_reals = reals;
    settings.updates = Updates::correction;
    settings.tolerance = 1e-6;
    settings.max_iterations = 500;
    settings.tune = false;
    settings.inner = inner;
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0, .lane_bytes = reals == 12 ? 32 : 64});
    const runtime::Decomposition decomposition(lattice, blocks, 1);
    const double taken = peak_bytes([&] {
      Solver wilson(decomposition, wilson::Action(gauge, {0.11, {}, antiperiodic_in_time}), settings);
      std::vector<HostField> solutions(n, HostField(spinor_components, lattice));
      for (const SolveResult& result : wilson.solve(sources, std::vector<double>(n, 0.11), solutions)) CHECK(result.converged());
    });
    const double estimated = total_of(wilson_footprint(decomposition, settings, static_cast<int>(n)));
    const double fields = static_cast<double>(n) * static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
    CHECK(estimated > 0.995 * taken);
    CHECK(estimated < 1.005 * (taken + fields));
  };
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      check(solver, precision, precision == Precision::single ? 18 : 12, {1, 1, 2, 2}, 3);
  check("bicgstab", Precision::single, 12, {1, 1, 1, 1}, 3);
  check("bicgstab", Precision::half, 12, {1, 1, 2, 2}, 12);
  check("gcr", Precision::single, 18, {1, 1, 2, 2}, 12);
  check("gcr", Precision::single, 18, {1, 1, 2, 2}, 3, InnerSolver{"bicgstab", 4});
  check("gcr", Precision::double_, 18, {1, 1, 1, 1}, 3, InnerSolver{"gcr", 3});
}

// Domains need tables, solves in flight everything but links and tables once more.
TEST_CASE("solves in flight with Schwarz domains allocate what their footprint says") {
  MESSAGE("seed " << seed);
  const Coord lattice{16, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const int in_flight : {1, 3}) {
      INFO(name_of(precision) << " in flight " << in_flight);
      SolverSettings settings;
      settings.solver = "gcr";
      settings.restart = 4;
      settings.schwarz = SchwarzSettings{{4, 4, 4, 4}, 2};
      settings.precision = precision;
      settings.tolerance = 1e-6;
      settings.max_iterations = 500;
      settings.in_flight = in_flight;
      runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0, .lane_bytes = in_flight > 1 ? 32 : 64});
      const runtime::Decomposition decomposition(lattice, {1, 1, 2, 2}, 1);
      const double taken = peak_bytes([&] {
        Solver wilson(decomposition, wilson::Action(gauge, {0.11, {}, antiperiodic_in_time}), settings);
        std::vector<HostField> solutions(static_cast<std::size_t>(in_flight), HostField(spinor_components, lattice));
        runtime::Turns::run(in_flight, in_flight,
                            [&](int number) { CHECK(wilson.solve(source, solutions[static_cast<std::size_t>(number)]).converged()); });
      });
      const double estimated = total_of(wilson_footprint(decomposition, settings));
      const double field = static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
      CHECK(estimated > 0.995 * taken);
      CHECK(estimated < 1.005 * (taken + 2 * in_flight * field));
    }
}

// Three right-hand sides, then two: fields for the larger number, faces for both. With vectors in lanes eight times as many.
TEST_CASE("a staggered solve allocates what its footprint says, and no more") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 16};
  const std::vector<HostField> sources = battery::random_vectors(lattice, 3, seed + 2);
  const smear::StaggeredLinks with_long = smooth_links(lattice, true), without = smooth_links(lattice, false);
  const auto check = [&](const std::string& name, Precision precision, int long_reals, const Coord& blocks, int vectors_in_lanes = 1) {
    INFO(name << " " << name_of(precision) << " long links " << long_reals << " blocks " << blocks[2] << blocks[3]);
    const bool hops_far = long_reals > 0, shifted = name == "multishift";
    const int together[] = {3 * vectors_in_lanes, 2 * vectors_in_lanes};
    SolverSettings settings;
    settings.solver = name;
    settings.precision = precision;
    settings.link_reals = hops_far ? long_reals : 18;
    settings.tolerance = 1e-6;
    settings.max_iterations = 500;
    const smear::StaggeredLinks& links = hops_far ? with_long : without;
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0, .lane_bytes = long_reals == 18 ? 64 : 32});
    const runtime::Decomposition decomposition(lattice, blocks, 1);
    const double taken = peak_bytes([&] {
      Solver solver(decomposition, staggered::Action(links), settings, {.vectors_in_lanes = vectors_in_lanes});
      std::vector<HostField> b;
      for (int v = 0; v < together[0]; ++v) b.push_back(sources[shifted ? 0 : static_cast<std::size_t>(v % 3)]);
      const std::vector<double> masses = shifted ? std::vector<double>{0.3, 0.5, 0.8} : std::vector<double>(b.size(), 0.5);
      for (const auto n : {static_cast<std::size_t>(together[0]), static_cast<std::size_t>(together[1])}) {
        std::vector<HostField> solutions(n, HostField(colour_components, lattice));
        for (const SolveResult& result : solver.solve(std::span(b).first(n), std::span(masses).first(n), solutions))
          CHECK(result.converged());
      }
    });
    const double estimated = total_of(staggered_footprint(decomposition, settings, hops_far, together, vectors_in_lanes));
    const double vectors = together[0] * static_cast<double>(volume(lattice)) / 2 * 6 * sizeof(double);
    CHECK(estimated > 0.995 * taken);
    // Where double precision needs no correction, the faces of the inner precision are never made.
    double unused = 0;
    if (shifted && precision == Precision::double_ && long_reals != 18) {
      settings.solver = "cg";
      const auto faces = [&](int reals) {
        settings.link_reals = reals;
        double sum = 0;
        for (const Footprint& block : staggered_footprint(decomposition, settings, hops_far, together)) sum += block.faces;
        return sum;
      };
      unused = faces(long_reals) - faces(18);
    }
    CHECK(estimated < 1.005 * (taken + vectors + unused));
  };
  for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}})
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      for (const int long_reals : {18, 13, 0}) check("cg", precision, long_reals, blocks);
      for (const int long_reals : {18, 0}) check("cg", precision, long_reals, blocks, 8);
      check("multishift", precision, 9, blocks);
      for (const char* solver : {"blockcg", "multishift"}) check(solver, precision, 18, blocks);
    }
}

TEST_CASE("several twisted masses from one Krylov space allocate what their footprint says, and no more") {
  MESSAGE("seed " << seed);
  const Coord lattice{16, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const std::vector<double> mus{0.3, 0.5, 0.8};
  for (const Precision precision : {Precision::double_, Precision::half})
    for (const std::size_t n : {std::size_t{3}, std::size_t{1}}) {
      INFO(name_of(precision) << " of " << n);
      const SolverSettings settings{
          .solver = "multishift", .tolerance = 1e-9, .max_iterations = 500, .precision = precision, .tune = false};
      runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
      const runtime::Decomposition decomposition(lattice, {1, 1, 2, 2}, 1);
      const double taken = peak_bytes([&] {
        Solver solver(decomposition, clover::Action(gauge, {.kappa = 0.11}, {.mu = mus[0], .mass_is_mu = true}), settings);
        std::vector<HostField> solutions(n, HostField(spinor_components, lattice));
        for (const SolveResult& result : solver.solve(std::vector<HostField>(n, source), std::span(mus).first(n), solutions))
          CHECK(result.converged());
      });
      const double estimated = total_of(wilson_footprint(decomposition, settings, static_cast<int>(n)));
      const double fields = static_cast<double>(n) * static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
      CHECK(estimated > 0.995 * taken);
      // In double precision no correction comes, whose vectors and image are counted.
      CHECK(estimated < 1.005 * (taken + (precision == Precision::double_ ? 4 : 2) * fields));
    }
}

TEST_CASE("footprints follow the formulas of the layout") {
  SolverSettings settings;
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  const double sites = 4096;
  const Footprint all = wilson_footprint(whole, settings).front();
  CHECK(all.links == sites * 8 * 18 * 8);
  CHECK(all.fields == 14 * sites / 2 * 24 * 8);
  settings.snapshots = true;
  CHECK(wilson_footprint(whole, settings).front().fields == 17 * sites / 2 * 24 * 8);
  settings.snapshots = false;
  CHECK(all.faces == 0);
  settings.precision = Precision::half;
  settings.link_reals = 12;
  const Footprint half = wilson_footprint(whole, settings).front();
  CHECK(half.links == sites * 8 * (18 * 8 + 12 * 2));
  CHECK(half.fields == sites / 2 * (12 * 192 + 7 * 52));
  // Unequal parts: bytes in proportion to sites, the same faces.
  const runtime::Decomposition cut({8, 8, 8, 16}, std::array<std::vector<int>, 4>{{{8}, {8}, {8}, {12, 4}}}, {0, 1});
  const std::vector<Footprint> parts = wilson_footprint(cut, settings);
  CHECK(parts[0].links == 3 * parts[1].links);
  CHECK(parts[0].fields == 3 * parts[1].fields);
  CHECK(parts[0].faces == parts[1].faces);
  // Of 3 and 12 right-hand sides: as many fields and faces, the same links and tables.
  for (const int n : {3, 12}) {
    const Footprint one = wilson_footprint(cut, settings).front(), several = wilson_footprint(cut, settings, n).front();
    CHECK(several.links == one.links);
    CHECK(several.tables == one.tables);
    CHECK(several.fields == n * one.fields);
    CHECK(several.faces == n * one.faces);
    CHECK(wilson_footprint(whole, settings, n).front().fields == n * sites / 2 * (12 * 192 + 7 * 52));
  }
  settings.solver = "magic";
  CHECK_THROWS_AS(wilson_footprint(whole, settings), Error);
}

TEST_CASE("staggered footprints follow the formulas of the layout") {
  SolverSettings settings;
  settings.solver = "cg";
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  const double sites = 4096;
  const auto of = [&](const runtime::Decomposition& decomposition, bool hops_far, std::vector<int> vectors) {
    return staggered_footprint(decomposition, settings, hops_far, vectors);
  };
  const Footprint all = of(whole, true, {3}).front();
  CHECK(all.links == sites * 8 * 36 * 8);
  CHECK(all.fields == 3 * 12 * sites / 2 * 6 * 8);
  CHECK(all.faces == 0);
  settings.snapshots = true;
  CHECK(of(whole, true, {3}).front().fields == 3 * (12 + 3) * sites / 2 * 6 * 8);
  settings.snapshots = false;
  CHECK(of(whole, false, {3}).front().links == sites * 8 * 18 * 8);
  CHECK(of(whole, true, {1, 5, 2}).front().fields == 5 * 12 * sites / 2 * 6 * 8);
  // In half precision links take whole 32-bit words, vectors of three complex numbers and a unit 16 bytes.
  settings.precision = Precision::half;
  settings.link_reals = 13;
  const Footprint half = of(whole, true, {3}).front();
  CHECK(half.links == sites * 8 * (36 * 8 + 18 * 2 + 14 * 2));
  CHECK(half.fields == 3 * sites / 2 * (12 * 48 + 5 * 16));
  settings.solver = "multishift";
  settings.precision = Precision::double_;
  CHECK(of(whole, true, {2}).front().links == sites * 8 * (36 + 13) * 8);
  settings.link_reals = 18;
  CHECK(of(whole, true, {2}).front().fields == (12 * 2 + 4) * sites / 2 * 6 * 8);
  // A cut in t, which is not split over lanes: two faces of three layers, double-buffered, for each Dslash.
  settings.solver = "cg";
  const runtime::Decomposition cut({8, 8, 8, 16}, {1, 1, 1, 2}, 1);
  const double layer = 8 * 8 * 8 / 2.0;
  // Those of two vectors come when the vectors of three have gone, the other way round both are there at the peak.
  CHECK(of(cut, true, {3, 2}).front().faces == 2 * 2 * 3 * layer * 6 * 3 * 8);
  CHECK(of(cut, true, {2, 3}).front().faces == 2 * 2 * 3 * layer * 6 * (3 + 2) * 8);
  CHECK(of(cut, false, {3}).front().faces == 2 * 2 * layer * 6 * 3 * 8);
}

TEST_CASE("each operator in flight has a multigrid of its own") {
  const runtime::Decomposition decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1);
  SolverSettings settings;
  settings.solver = "multigrid";
  settings.precision = Precision::single;
  settings.in_flight = 3;
  OperatorShape shape = operator_shape(kind_named("wilson"), {}, settings);
  const int vectors = 4;
  const auto fields = [&] { return footprint(decomposition, settings, shape, {&vectors, 1}).front().fields; };
  const double one = fields();
  shape.operators = 3;
  const double null_vectors = 16. * 16 * 16 * 16 / 2 * 12 * 8 * 24;  // of one parity, single precision
  CHECK(fields() >= one + 2 * 3 * null_vectors);
}

TEST_CASE("coarse matrices of 16 bits take half, and the set-up has those of 32 beside them") {
  const runtime::Decomposition decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1);
  SolverSettings settings;
  settings.solver = "multigrid";
  settings.precision = Precision::single;
  settings.multigrid.emplace();
  const int vectors = 1;  // so that the set-up is the peak
  const auto of_block = [&] {
    return footprint(decomposition, settings, operator_shape(kind_named("wilson"), {}, settings), {&vectors, 1}).front();
  };
  const Footprint same = of_block();
  settings.multigrid->half_matrices = true;
  const Footprint half = of_block();
  constexpr double numbers = (4. * 4 * 4 * 4 + 2 * 2 * 2 * 2) * 10 * 48 * 48 * 2;  // both coarse levels; A^-1 beside nine blocks
  CHECK(half.links == same.links - 2 * numbers);
  CHECK(half.fields == same.fields + 4 * numbers);
}

}  // namespace footprint_test
