#include "runtime/topology.hpp"

#include <hwloc.h>

#include <memory>

#include "runtime/error.hpp"

namespace quarkstar::runtime {
namespace {

/// The loaded topology; kept for the process's life because threads bind themselves through it.
hwloc_topology_t loaded_topology() {
  static const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> loaded = [] {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
      throw Error(ErrorKind::environment, "hwloc", "cannot read the machine's topology",
                  "check /sys and /proc, or point HWLOC_XMLFILE at a saved topology");
    return std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>(topology, &hwloc_topology_destroy);
  }();
  return loaded.get();
}

std::vector<int> cores_within(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  std::vector<int> cores;
  const int count = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t core = hwloc_get_obj_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE, i);
    hwloc_obj_t pu = hwloc_get_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, 0);
    if (pu != nullptr) cores.push_back(static_cast<int>(pu->logical_index));
  }
  return cores;
}

}  // namespace

Topology Topology::discover() {
  hwloc_topology_t topology = loaded_topology();
  Topology found;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    Domain domain;
    domain.numa_node = static_cast<int>(node->logical_index);
    domain.memory_bytes = node->attr != nullptr ? node->attr->numanode.local_memory : 0;
    domain.cores = cores_within(topology, node->cpuset);
    if (!domain.cores.empty()) found.domains_.push_back(std::move(domain));
  }
  if (found.domains_.empty())
    throw Error(ErrorKind::environment, "hwloc", "no core is available to this process",
                "widen the CPU mask (taskset, Slurm --cpus-per-task)");
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0); package != nullptr)
    if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel"); model != nullptr) found.cpu_model_ = model;
  return found;
}

int Topology::cores() const {
  int total = 0;
  for (const Domain& domain : domains_) total += static_cast<int>(domain.cores.size());
  return total;
}

bool bind_this_thread(int logical_pu) {
  hwloc_topology_t topology = loaded_topology();
  hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(logical_pu));
  return pu != nullptr && hwloc_set_cpubind(topology, pu->cpuset, HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace quarkstar::runtime
