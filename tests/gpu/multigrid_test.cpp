// GCR with multigrid on a GPU, bit for bit against the CPU's: set-up, cycle and solve.
#include "codelets/coarse/coarse_operator.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/noise.hpp"
#include "codelets/field/transfer.hpp"
#include "solvers/multigrid/choice.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/together_support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>
#include <cmath>

namespace multigrid_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 80211;

/// levels: 0: as many as leave a dense inverse.
SolverSettings settings_of(Precision precision, const Coord& aggregate, int levels = 0) {
  SolverSettings settings = battery::settings_of("gcr", precision);
  settings.link_reals = 18;
  settings.tolerance = 1e-6;
  settings.multigrid = MultigridSettings{
      .aggregate = aggregate, .levels = levels, .null_vectors = 8, .coarse_steps = 8, .setup_steps = 10, .setup_cycles = 1};
  return settings;
}

/// D_c c and (1 - H H) c_o of some coarse vectors c, prolonged.
std::vector<HostField> coarse_images(const HostGauge& gauge, const Coord& lattice, Precision precision, const Coord& blocks,
                                     const Coord& aggregate, int null_vectors, int n, int gpus) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  wilson::Action action(gauge, {.kappa = 0.124});
  const auto prepared = action.in_precision(runtime::Decomposition(lattice, blocks, session.block_owners()),
                                            {.precision = precision, .speed = {.measure = false}, .unit = coarse::unit_of(aggregate)});
  const coarse::Aggregates aggregates(prepared->lattice(), spinor_components, aggregate, null_vectors);
  const int at_once = coarse::null_vectors_at_once(null_vectors);
  std::uint64_t first = 0;
  for (const FullField& field : aggregates.null_vectors()) {
    for (const int parity : {0, 1}) write_noise(field.of(parity), seed, first);
    first += static_cast<std::uint64_t>(at_once);
  }
  aggregates.orthonormalise();
  coarse::CoarseMatrices matrices(aggregates);
  matrices.compute(aggregates, *prepared->system(at_once, same_for_all(0.124)));
  matrices.eliminate();

  const FullField fine(prepared->lattice(), spinor_components, n);
  for (const int parity : {0, 1}) write_noise(fine.of(parity), seed, static_cast<std::uint64_t>(null_vectors));
  const FullField c = aggregates.coarse_field(n), image = aggregates.coarse_field(n), schur = aggregates.coarse_field(n);
  aggregates.restrict(c, coarse::Aggregates::both(fine));
  coarse::CoarseOperator operation(matrices, n);
  for (const int parity : {0, 1}) operation.times_m(image.of(parity), c, 1);
  blas::submit<blas::Fill>({&schur.even}, {0.0});
  operation.apply(schur.odd, c.odd, {}, false, {});
  const FullField narrow = aggregates.coarse_field(n);
  std::vector<const FullField*> all{&image, &schur};
  if (precision == Precision::single) {
    matrices.narrow();
    matrices.keep_narrow();
    coarse::CoarseOperator of_narrow(matrices, n, coarse::CoarseOperator::Stored::narrow);
    blas::submit<blas::Fill>({&narrow.even}, {0.0});
    of_narrow.apply(narrow.odd, c.odd, {}, false, {});
    all.push_back(&narrow);
  }
  std::vector<HostField> images;
  for (const FullField* of : all) {
    aggregates.prolong(coarse::Aggregates::both(fine), *of);
    std::vector<HostField> host(static_cast<std::size_t>(n), HostField(spinor_components, lattice));
    for (const int parity : {0, 1}) transfer::store(host, fine.of(parity));
    session.wait_all();
    images.insert(images.end(), host.begin(), host.end());
  }
  return images;
}

}  // namespace

TEST_CASE("multigrid on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu multigrid");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{.kappa = 0.13};
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const auto& [aggregate, levels, null_vectors] :
         {std::tuple{Coord{4, 4, 4, 4}, 0, 8}, {Coord{2, 2, 2, 2}, 0, 8}, {Coord{2, 2, 2, 2}, 2, 8}, {Coord{2, 2, 2, 2}, 3, 48}}) {
      INFO(name_of(precision) << " aggregate " << aggregate[0] << " levels " << levels << ", " << null_vectors << " null vectors");
      battery::SolveCase c;
      c.settings = settings_of(precision, aggregate, levels);
      c.settings.multigrid->null_vectors = null_vectors;
      // By GCR on the coarsest level.
      CHECK(has_dense_inverse(completed(*c.settings.multigrid, lattice), lattice) == (levels != 2));
      c.settings.multigrid->half_matrices = precision == Precision::single && levels == 2;
      const battery::SolveOutcome expected = battery::solve_once(c, gauge, parameters, source);
      CHECK(expected.result.converged());
      c.gpus = 1;
      std::vector<Coord> cuts{{1, 1, 1, 1}, {1, 1, 1, 2}};
      if (levels != 2 && aggregate[3] == 2) cuts.push_back({1, 1, 1, 4});  // the second level is whole
      for (const int gpus : {1, 2}) {
        if (static_cast<int>(runtime::gpus().size()) < gpus) continue;
        c.gpus = gpus;
        for (const Coord& blocks : cuts) {
          if (volume(blocks) < gpus) continue;
          c.blocks = blocks;
          battery::check_same_bits(battery::solve_once(c, gauge, parameters, source), expected);
        }
      }
    }
}

TEST_CASE("several right-hand sides of multigrid on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu multigrid of several right-hand sides");
  MESSAGE("seed " << seed + 2);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 2, 0.3);
  std::vector<HostField> sources;
  for (std::uint64_t v = 0; v < 6; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + 3 + v)));
  const std::vector<double> masses(sources.size(), 0.13);
  const auto on = [&](int gpus) {
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, session.block_owners()), wilson::Action(gauge, {.kappa = 0.13}),
                  settings_of(Precision::single, {4, 4, 4, 4}));
    return battery::solve_together(solver, sources, masses);
  };
  const battery::TogetherOutcome expected = on(0), outcome = on(1);
  for (std::size_t v = 0; v < sources.size(); ++v) battery::check_same_bits(outcome, v, expected, v);
}

// 128 and 2048 coarse sites of a parity, also as an interior and a boundary that do not fill blocks of threads, and numbers of vectors that
// do not fill what a thread takes: each kernel that the launch chooses from.
TEST_CASE("the coarse operator on a GPU has the CPU's bits for any number of null vectors and right-hand sides") {
  QUARKSTAR_NEEDS_GPU("gpu coarse operator");
  MESSAGE("seed " << seed);
  struct Case {
    Coord lattice;
    int null_vectors;
    std::vector<int> right_hand_sides;
    Precision precision = Precision::single;
    Coord blocks = {1, 1, 1, 1}, aggregate = {2, 2, 2, 2};
  };
  const Coord small{8, 8, 8, 8}, large{16, 16, 16, 16}, cut{1, 1, 1, 2};
  for (const Case& c :
       {Case{small, 4, {1, 2, 5, 12, 24, 32}}, Case{small, 20, {1, 2, 5, 12, 24, 32}}, Case{small, 32, {1, 2, 5, 12, 24, 32}},
        Case{small, 48, {1, 4, 12}}, Case{small, 64, {1, 2, 5, 7, 12, 24, 32}}, Case{small, 64, {1, 5, 7, 24, 32}, Precision::double_, cut},
        Case{large, 12, {1, 2, 5, 12, 24, 32}}, Case{large, 16, {11, 12}}, Case{large, 16, {12}, Precision::double_},
        Case{large, 20, {32}, Precision::single, cut}, Case{large, 20, {16, 24}, Precision::double_},
        Case{small, 20, {1, 3, 5, 8}, Precision::double_, cut},
        // Panels of null vectors that shared memory does not hold.
        Case{large, 12, {2}, Precision::single, cut, {8, 8, 8, 4}}, Case{large, 8, {1}, Precision::double_, cut, {4, 8, 8, 4}}}) {
    const HostGauge gauge = reference::random_gauge(c.lattice, seed);
    for (const int n : c.right_hand_sides) {
      INFO(c.null_vectors << " null vectors, " << n << " right-hand sides, " << c.lattice[0] << "^4, " << name_of(c.precision)
                          << ", cut in " << c.blocks[3]);
      const auto images = [&](int gpus) {
        return coarse_images(gauge, c.lattice, c.precision, c.blocks, c.aggregate, c.null_vectors, n, gpus);
      };
      const std::vector<HostField> expected = images(0), found = images(1);
      for (std::size_t v = 0; v < expected.size(); ++v) {
        CHECK(battery::same_bits(found[v], expected[v]));
        const auto& z = expected[v].data;  // the images behind the first are on odd sites alone
        CHECK(2 * std::count_if(z.begin(), z.end(), [](const auto& c) { return c != 0.0 && std::isfinite(std::abs(c)); }) >=
              static_cast<std::ptrdiff_t>(z.size()));
      }
    }
  }
}

}  // namespace multigrid_test
