// The GPU's hopping term, bit for bit against the CPU's.
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 31415;
}

TEST_CASE("hopping term on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu hopping");
  MESSAGE("seed " << seed);
  const BoundaryAngles angles{0, 0.5, 0.3, 1};
  const Coord cuts[] = {{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 2, 2}};
  for (const Coord& lattice : {Coord{8, 8, 8, 8}, Coord{8, 4, 6, 4}}) {
    const HostGauge gauge = reference::random_gauge(lattice, seed);
    const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int reals : {18, 12, 8})
        for (const bool adjoint : {false, true}) {
          HostSpinor expected;
          {
            runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
            expected = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, reals}, gauge, angles).apply(psi, adjoint);
          }
          runtime::Session gpu({.cuda_workers = 1});
          for (const Coord& blocks : cuts)
            for (const int most_lanes : {16, 8, 4, 1}) {
              const battery::HoppingCase c{lattice, blocks, precision, reals, most_lanes};
              INFO(c.text());
              CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, angles).apply(psi, adjoint), expected));
            }
        }
  }
}
