// GPUs to the ranks that are near them, and cores to the GPUs' worker threads.
#include "runtime/gpu/gpu_affinity.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace gpu_affinity_test {

using namespace quarkstar::runtime;

namespace {

using Nodes = std::vector<int>;
using Homes = std::vector<std::uint64_t>;

/// By trying everything: whether each rank can have equally many GPUs of its own nodes.
bool all_can_be_near(const Nodes& near, const Homes& homes, std::vector<std::size_t>& places, std::size_t gpu = 0) {
  if (gpu == near.size()) return true;
  for (std::size_t rank = 0; rank < homes.size(); ++rank) {
    if (places[rank] == 0 || near[gpu] < 0 || ((homes[rank] >> near[gpu]) & 1) == 0) continue;
    --places[rank];
    const bool rest = all_can_be_near(near, homes, places, gpu + 1);
    ++places[rank];
    if (rest) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("each rank gets the GPUs near its cores") {
  // Two sockets whose GPUs the driver counts alternately.
  CHECK(ranks_of_gpus(Nodes{0, 1, 0, 1}, Homes{1, 1, 2, 2}) == std::vector<int>{0, 2, 1, 3});
  CHECK(ranks_of_gpus(Nodes{1, 1, 0, 0}, Homes{1, 2}) == std::vector<int>{1, 1, 0, 0});
  // Ranks that may use every core, or whose nodes have the GPUs in order, keep it.
  CHECK(ranks_of_gpus(Nodes{0, 1, 0, 1}, Homes{3, 3}) == std::vector<int>{0, 0, 1, 1});
  CHECK(ranks_of_gpus(Nodes{0, 0, 1, 1}, Homes{1, 1, 2, 2}) == std::vector<int>{0, 1, 2, 3});
  // One that is near both nodes steps aside.
  CHECK(ranks_of_gpus(Nodes{0, 1}, Homes{3, 1}) == std::vector<int>{1, 0});
}

TEST_CASE("GPUs go in order where not every rank can have near ones") {
  CHECK(ranks_of_gpus(Nodes{0, 0, 0, 1}, Homes{1, 2}) == std::vector<int>{0, 0, 1, 1});
  CHECK(ranks_of_gpus(Nodes{-1, -1}, Homes{1, 2}) == std::vector<int>{0, 1});
  CHECK(ranks_of_gpus(Nodes{1, 0, 0}, Homes{1, 2}) == std::vector<int>{0, 1, 1});
  CHECK(ranks_of_gpus(Nodes{}, Homes{1, 2}).empty());
}

TEST_CASE("near GPUs are found wherever there is a way") {
  constexpr std::uint32_t seed = 20261123;
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    const std::size_t ranks = 1 + random() % 4, each = 1 + random() % 2;
    Nodes near(ranks * each);
    Homes homes(ranks);
    for (int& node : near) node = static_cast<int>(random() % 3);
    for (std::uint64_t& home : homes) home = 1 + random() % 7;
    const std::vector<int> owners = ranks_of_gpus(near, homes);
    REQUIRE(owners.size() == near.size());
    for (std::size_t rank = 0; rank < ranks; ++rank)
      CHECK(static_cast<std::size_t>(std::count(owners.begin(), owners.end(), static_cast<int>(rank))) == each);
    bool all_near = true;
    for (std::size_t gpu = 0; gpu < near.size(); ++gpu)
      all_near = all_near && ((homes[static_cast<std::size_t>(owners[gpu])] >> near[gpu]) & 1) != 0;
    std::vector<std::size_t> places(ranks, each);
    CHECK(all_near == all_can_be_near(near, homes, places));
    found += all_near ? 1 : 0;
  }
  CHECK(found > 50);
  CHECK(found < 450);
}

TEST_CASE("worker threads of GPUs get cores of their nodes") {
  const Topology topology({{0, 0, {0, 1, 2}}, {1, 0, {3, 4, 5}}}, "");
  CHECK(nodes_of(topology) == 3);
  CHECK(cores_to_give(topology, Nodes{}) == std::vector<int>{5, 4, 3, 2, 1, 0});
  CHECK(cores_to_give(topology, Nodes{-1, -1}) == std::vector<int>{5, 4, 3, 2, 1, 0});
  CHECK(cores_to_give(topology, Nodes{0, 1, 0}) == std::vector<int>{2, 5, 1, 4, 3, 0});
  // More GPUs than the node has cores, and than there are cores.
  CHECK(cores_to_give(topology, Nodes{0, 0, 0, 0}) == std::vector<int>{2, 1, 0, 5, 4, 3});
  CHECK(cores_to_give(topology, Nodes{1, 1, 1, 1, 1, 1, 1}).size() == 6);
  CHECK(nodes_of(Topology({{7, 0, {3}}}, "")) == 128);
}

}  // namespace gpu_affinity_test
