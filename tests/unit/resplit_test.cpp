// Blocks cut anew from measured speeds: only where the remaining solves win back the cost.
#include "runtime/cut/resplit.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace resplit_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

constexpr int any_thickness = 1 << 20;

Resplitter resplitter(int thinnest = 2, const Coord& domain = {1, 1, 1, 1}) {
  return Resplitter(
      thinnest, [](int, int) { return any_thickness; }, domain);
}

std::vector<int> thickness(const Decomposition& decomposition, std::size_t mu = 3) {
  std::vector<int> list;
  for (const Block& block : decomposition.blocks()) list.push_back(block.extents[mu]);
  return list;
}

std::vector<int> owners(const Decomposition& decomposition) {
  std::vector<int> list;
  for (const Block& block : decomposition.blocks()) list.push_back(block.owner);
  return list;
}

/// Thickness of the blocks that are proposed for ten more solves, after one in which `busy` are the owners' seconds; a cut costs nothing.
std::vector<int> cut_after(Resplitter speeds, const Decomposition& now, const std::vector<double>& busy, double seconds) {
  speeds.solved(now, busy, seconds);
  const auto found = speeds.propose(now, 10, 0);
  REQUIRE(found);
  return thickness(found->decomposition);
}

}  // namespace

TEST_CASE("equal owners are left alone") {
  const Decomposition now({8, 8, 8, 32}, Coord{1, 1, 1, 2}, 2);
  Resplitter speeds = resplitter();
  speeds.solved(now, std::vector{1.0, 1.0}, 1.2);
  CHECK_FALSE(speeds.propose(now, 1000, 0));
  speeds.solved(now, std::vector{1.02, 1.0}, 1.2);  // noise
  CHECK_FALSE(speeds.propose(now, 1000, 0));
}

TEST_CASE("an owner of a third of the speed gets a quarter of the lattice") {
  const Decomposition now({8, 8, 8, 32}, Coord{1, 1, 1, 2}, 2);
  Resplitter speeds = resplitter();
  speeds.solved(now, std::vector{1.0, 3.0}, 3.5);
  // The slowest takes 3 s for 16 slices; with 24 and 8 both take 1.5 s: each solve gains 1.5 s.
  const auto found = speeds.propose(now, 2, 2.9);
  REQUIRE(found);
  CHECK(thickness(found->decomposition) == std::vector{24, 8});
  CHECK(owners(found->decomposition) == std::vector{0, 1});
  CHECK(found->seconds_before == doctest::Approx(3.5));
  CHECK(found->seconds_after == doctest::Approx(2.0));
  CHECK_FALSE(speeds.propose(now, 2, 3.1));  // two solves do not win that back
  CHECK_FALSE(speeds.propose(now, 0, 0));
}

TEST_CASE("an owner may lose its block and get it back when the others slow down") {
  const Decomposition now({8, 8, 8, 8}, Coord{1, 1, 1, 2}, 2);
  Resplitter speeds = resplitter();
  speeds.solved(now, std::vector{1.0, 50.0}, 51);
  const auto alone = speeds.propose(now, 10, 1);
  REQUIRE(alone);
  CHECK(thickness(alone->decomposition) == std::vector{8});
  CHECK(owners(alone->decomposition) == std::vector{0});
  speeds.solved(alone->decomposition, std::vector{200.0, 0.0}, 200);
  const auto both = speeds.propose(alone->decomposition, 10, 1);
  REQUIRE(both);
  CHECK(thickness(both->decomposition).size() == 2);
}

TEST_CASE("blocks that are too thin are not made") {
  const Decomposition now({8, 8, 8, 12}, Coord{1, 1, 1, 2}, 2);
  for (const int part : cut_after(resplitter(4), now, {1.0, 5.0}, 5)) CHECK(part >= 4);
}

TEST_CASE("a part that would be too thin is made thick enough, or left out") {
  const Decomposition now({8, 8, 8, 18}, Coord{1, 1, 1, 2}, 2);  // 10 and 8 slices; 4 does not divide 18
  const std::vector<double> busy{1.0, 8.0};                      // 16 and 2 would be in proportion
  CHECK(cut_after(resplitter(4), now, busy, 8) == std::vector{18});
  const Resplitter bounded(4, [](int worker, int) { return worker == 0 ? 16 : any_thickness; });
  CHECK(cut_after(bounded, now, busy, 8) == std::vector{14, 4});
}

TEST_CASE("domains stay whole") {
  // Speeds 3 to 1.
  const Decomposition now({8, 8, 8, 40}, Coord{1, 1, 1, 2}, 2);
  const auto cut = [&](const Coord& domain) { return cut_after(resplitter(2, domain), now, {1.0, 3.0}, 3.5); };
  CHECK(cut({1, 1, 1, 1}) == std::vector{30, 10});
  CHECK(cut({4, 4, 4, 2}) == std::vector{30, 10});
  CHECK(cut({2, 2, 2, 4}) == std::vector{32, 8});
  CHECK(cut({4, 4, 4, 8}) == std::vector{32, 8});
  CHECK(cut({4, 4, 4, 10}) == std::vector{30, 10});
}

TEST_CASE("what a memory holds bounds its owner's part") {
  const Decomposition now({8, 8, 8, 32}, Coord{1, 1, 1, 2}, 2);
  const Resplitter bounded(2, [](int worker, int) { return worker == 0 ? 20 : any_thickness; });
  CHECK(cut_after(bounded, now, {1.0, 3.0}, 3.5) == std::vector{20, 12});
}

TEST_CASE("where several directions are cut blocks change owners") {
  const Decomposition now({8, 8, 8, 16}, Coord{1, 1, 2, 4}, 2);
  Resplitter speeds = resplitter();
  speeds.solved(now, std::vector{1.0, 3.0}, 3.0);
  const auto found = speeds.propose(now, 10, 0);
  REQUIRE(found);
  CHECK(found->decomposition.grid() == now.grid());
  CHECK(owners(found->decomposition) == std::vector{0, 0, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("without a time for every owner nothing is moved") {
  const Decomposition now({8, 8, 8, 32}, Coord{1, 1, 1, 2}, 2), uncut = Decomposition::uncut({8, 8, 8, 32}, 0);
  Resplitter speeds = resplitter();
  CHECK_FALSE(speeds.propose(now, 10, 0));
  speeds.solved(now, std::vector{1.0, 0.0}, 1);
  CHECK_FALSE(speeds.propose(now, 10, 0));
  speeds.solved(uncut, std::vector{1.0, 0.0}, 1);
  CHECK_FALSE(speeds.propose(uncut, 10, 0));
}

}  // namespace resplit_test
