// The GPU's hopping term, bit for bit against the CPU's.
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

namespace hopping_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 31415;

struct Problem {
  Coord lattice;
  HostGauge gauge;
  HostField psi;
  BoundaryAngles angles;
};

/// All precisions, link formats and lanes, under each cut.
void check_bits(const Problem& problem, std::initializer_list<Coord> cuts) {
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 12, 8})
      for (const bool adjoint : {false, true}) {
        HostField expected;
        {
          runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
          expected = battery::HoppingHarness({problem.lattice, {1, 1, 1, 1}, precision, reals}, problem.gauge, problem.angles)
                         .apply(problem.psi, adjoint);
        }
        runtime::Session gpu({.cuda_workers = 1});
        for (const Coord& blocks : cuts)
          for (const int most_lanes : {16, 8, 4, 1}) {
            const battery::HoppingCase c{problem.lattice, blocks, precision, reals, most_lanes};
            INFO(c.text() << ", angles " << problem.angles[0] << problem.angles[1] << problem.angles[2] << problem.angles[3]);
            CHECK(battery::same_bits(battery::HoppingHarness(c, problem.gauge, problem.angles).apply(problem.psi, adjoint), expected));
          }
      }
}

}  // namespace

TEST_CASE("hopping term on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu hopping");
  MESSAGE("seed " << seed);
  for (const Coord& lattice : {Coord{8, 8, 8, 8}, Coord{8, 4, 6, 4}}) {
    Problem problem{
        lattice, reference::random_gauge(lattice, seed), battery::to_host(reference::random_field(lattice, 4, seed + 1)), {0, 0.5, 0.3, 1}};
    check_bits(problem, {{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 2, 2}});
    // Signs in time, in one direction of space, everywhere: kernels without complex phases.
    for (const BoundaryAngles& angles : {BoundaryAngles{0, 0, 0, 1}, BoundaryAngles{1, 0, 0, 0}, BoundaryAngles{1, 1, 1, 1}}) {
      problem.angles = angles;
      check_bits(problem, {{1, 1, 1, 1}, {1, 1, 1, 2}});
    }
  }
}

}  // namespace hopping_test
