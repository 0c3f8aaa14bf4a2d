#include "runtime/gpu/gpu_affinity.hpp"

#include <algorithm>
#include <cstddef>

namespace quarkstar::runtime {
namespace {

constexpr int most_nodes = 64;

bool has_node(std::uint64_t home, int node) { return node >= 0 && node < most_nodes && ((home >> node) & 1) != 0; }

}  // namespace

std::vector<int> ranks_of_gpus(std::span<const int> near, std::span<const std::uint64_t> homes) {
  const auto gpus = static_cast<std::int64_t>(near.size()), ranks = static_cast<std::int64_t>(homes.size());
  std::vector<int> in_order;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    in_order.resize(static_cast<std::size_t>((rank + 1) * gpus / ranks), static_cast<int>(rank));
  if (gpus == 0 || gpus % ranks != 0) return in_order;

  // A GPU takes a place with a near rank, or that of another GPU which finds one elsewhere.
  std::vector<int> owners(near.size(), -1);
  const auto place = [&](const auto& self, std::size_t gpu, std::vector<bool>& asked) -> bool {
    std::vector<int> candidates{in_order[gpu]};
    for (int rank = 0; rank < static_cast<int>(ranks); ++rank)
      if (rank != in_order[gpu]) candidates.push_back(rank);
    std::erase_if(candidates, [&](int rank) { return !has_node(homes[static_cast<std::size_t>(rank)], near[gpu]); });
    const auto take = [&](int rank) {
      owners[gpu] = rank;
      return true;
    };
    for (const int rank : candidates)
      if (std::count(owners.begin(), owners.end(), rank) < gpus / ranks) return take(rank);
    for (const int rank : candidates) {
      if (asked[static_cast<std::size_t>(rank)]) continue;
      asked[static_cast<std::size_t>(rank)] = true;
      for (std::size_t other = 0; other < owners.size(); ++other)
        if (owners[other] == rank && self(self, other, asked)) return take(rank);
    }
    return false;
  };
  for (std::size_t gpu = 0; gpu < near.size(); ++gpu) {
    std::vector<bool> asked(homes.size(), false);
    if (!place(place, gpu, asked)) return in_order;
  }
  return owners;
}

std::uint64_t nodes_of(const Topology& topology) {
  std::uint64_t nodes = 0;
  for (const Domain& domain : topology.domains())
    if (domain.numa_node < most_nodes) nodes |= std::uint64_t{1} << domain.numa_node;
  return nodes;
}

std::vector<int> cores_to_give(const Topology& topology, std::span<const int> near) {
  std::vector<int> left = topology.all_cores(), given;
  const auto give = [&](int core) {
    given.push_back(core);
    std::erase(left, core);
  };
  for (const int node : near) {
    if (left.empty()) break;
    int core = left.back();
    for (const Domain& domain : topology.domains()) {
      if (domain.numa_node != node) continue;
      const auto last = std::find_if(domain.cores.rbegin(), domain.cores.rend(),
                                     [&](int of_domain) { return std::find(left.begin(), left.end(), of_domain) != left.end(); });
      if (last != domain.cores.rend()) core = *last;
    }
    give(core);
  }
  given.insert(given.end(), left.rbegin(), left.rend());
  return given;
}

}  // namespace quarkstar::runtime
