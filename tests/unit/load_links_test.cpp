#include "codelets/field/transfer.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace load_links_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 271;
constexpr Coord extents{8, 4, 6, 8};

}  // namespace

TEST_CASE("links that are not in SU(3) are refused for 12 and 8 reals, wherever they are") {
  HostGauge gauge = reference::random_gauge(extents, seed);
  const runtime::Session session(runtime_testing::options(1, 2));
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, 2), Precision::double_, periodic,
                                                 LayoutRequest{.most_lanes = 16});
  for (const int reals : {8, 12, 18})
    for (const Coord& site : {Coord{2, 2, 0, 0}, Coord{1, 2, 0, 0}}) {
      HostGauge bent = gauge;
      for (double& real : bent.link(lexicographic(site, extents), 2)) real *= 1.01;
      LinkField even(lattice, 0, reals), odd(lattice, 1, reals);
      if (reals < 18) CHECK_THROWS_AS(transfer::load_links(even, odd, bent), Error);
      else CHECK_NOTHROW(transfer::load_links(even, odd, bent));
    }
}

}  // namespace load_links_test
