#pragma once
// Which GPUs and cores are near each other, and what follows for ranks and worker threads.
#include "runtime/system/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quarkstar::runtime {

/// Which of the ranks that share GPUs gets each of them. near: each GPU's memory node (numa_node_near(), -1: not
/// known); homes: of each rank the nodes of its cores, bit n for node n. Every GPU goes to a rank that has cores of its
/// node where that gives all ranks equally many; otherwise, and where there is a choice, consecutive GPUs to
/// consecutive ranks. Cost: of the order of GPUs^2 times ranks.
std::vector<int> ranks_of_gpus(std::span<const int> near, std::span<const std::uint64_t> homes);

/// Bit n where the cores include some of node n, for nodes up to 63.
std::uint64_t nodes_of(const Topology& topology);

/// The cores in the order in which they are given away: one of each GPU's node for its worker thread, the last that is
/// left there, or of all where none is or the node is not known; then the others, the last first.
std::vector<int> cores_to_give(const Topology& topology, std::span<const int> near);

}  // namespace quarkstar::runtime
