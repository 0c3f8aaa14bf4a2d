#include "runtime/system/topology.hpp"

#include "runtime/system/error.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>

namespace quarkstar::runtime {
namespace {

/// The loaded topology. Never destroyed: threads bind themselves through it to the end, and hwloc would unload its plugins,
/// after which a leak checker can no longer tell whose memory was left.
hwloc_topology_t loaded_topology() {
  static const hwloc_topology_t loaded = [] {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
      throw Error(ErrorKind::environment, "hwloc", "cannot read the machine's topology",
                  "check /sys and /proc, or point HWLOC_XMLFILE at a saved topology");
    return topology;
  }();
  return loaded;
}

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// Where this process may run. hwloc leaves out what a container or cgroup forbids; a mask (taskset, mpirun --bind-to) it
/// does not, so the mask of the thread that asks first is kept here: worker threads bind themselves more narrowly later.
hwloc_const_cpuset_t allowed_units() {
  static const Bitmap allowed = [] {
    hwloc_topology_t topology = loaded_topology();
    Bitmap set(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
    if (hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_THREAD) != 0)
      hwloc_bitmap_copy(set.get(), hwloc_topology_get_topology_cpuset(topology));
    return set;
  }();
  return allowed.get();
}

/// The first allowed processing unit of each core of `set` that is not in `taken`, which then holds those cores too.
std::vector<int> take_cores(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_cpuset_t taken) {
  std::vector<int> cores;
  const Bitmap usable(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  const int count = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t core = hwloc_get_obj_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE, i);
    if (hwloc_bitmap_intersects(core->cpuset, taken)) continue;
    hwloc_bitmap_or(taken, taken, core->cpuset);
    hwloc_bitmap_and(usable.get(), core->cpuset, allowed_units());
    hwloc_obj_t pu = hwloc_get_obj_inside_cpuset_by_type(topology, usable.get(), HWLOC_OBJ_PU, 0);
    if (pu != nullptr) cores.push_back(static_cast<int>(pu->logical_index));
  }
  return cores;
}

/// Memory nodes, those of the fewest processing units first: one core can be near several (a second kind of memory, a
/// node without cores of its own that counts as near to all), and belongs to the one that it shares with the fewest.
std::vector<hwloc_obj_t> memory_nodes(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> nodes;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    nodes.push_back(node);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](hwloc_obj_t a, hwloc_obj_t b) { return hwloc_bitmap_weight(a->cpuset) < hwloc_bitmap_weight(b->cpuset); });
  return nodes;
}

/// Of the caches of these levels beside units that this process may use.
double bytes_of_caches(hwloc_topology_t topology) {
  double bytes = 0;
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE})
    for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_type(topology, level, cache)) != nullptr;)
      if (cache->attr != nullptr && hwloc_bitmap_intersects(cache->cpuset, allowed_units()))
        bytes += static_cast<double>(cache->attr->cache.size);
  return bytes;
}

}  // namespace

Topology Topology::discover() {
  hwloc_topology_t topology = loaded_topology();
  Topology found;
  const Bitmap taken(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  for (const hwloc_obj_t node : memory_nodes(topology)) {
    Domain domain;
    domain.numa_node = static_cast<int>(node->logical_index);
    domain.memory_bytes = node->attr != nullptr ? node->attr->numanode.local_memory : 0;
    domain.cores = take_cores(topology, node->cpuset, taken.get());
    if (!domain.cores.empty()) found.domains_.push_back(std::move(domain));
  }
  std::sort(found.domains_.begin(), found.domains_.end(), [](const Domain& a, const Domain& b) { return a.numa_node < b.numa_node; });
  if (found.domains_.empty())
    throw Error(ErrorKind::environment, "hwloc", "no core is available to this process",
                "widen the CPU mask (taskset, Slurm --cpus-per-task)");
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0); package != nullptr)
    if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel"); model != nullptr) found.cpu_model_ = model;
  found.cache_bytes_ = bytes_of_caches(topology);
  return found;
}

Topology Topology::share(int index, int count) const {
  const int total = cores();
  int first = static_cast<int>(std::int64_t{index} * total / count), last = static_cast<int>(std::int64_t{index + 1} * total / count);
  if (count > total) {
    first = index % total;
    last = first + 1;
  }
  Topology mine = *this;
  mine.domains_.clear();
  int seen = 0;
  for (Domain domain : domains_) {
    std::vector<int> kept;
    for (const int core : domain.cores) {
      if (seen >= first && seen < last) kept.push_back(core);
      ++seen;
    }
    domain.cores = std::move(kept);
    if (!domain.cores.empty()) mine.domains_.push_back(std::move(domain));
  }
  mine.cache_bytes_ = cache_bytes_ * mine.cores() / total;
  return mine;
}

std::vector<int> Topology::all_cores() const {
  std::vector<int> all;
  for (const Domain& domain : domains_) all.insert(all.end(), domain.cores.begin(), domain.cores.end());
  return all;
}

int Topology::cores() const {
  int total = 0;
  for (const Domain& domain : domains_) total += static_cast<int>(domain.cores.size());
  return total;
}

int numa_node_near(const std::string& pci_bus_id) {
  hwloc_topology_t topology = loaded_topology();
  if (hwloc_topology_is_thissystem(topology) == 0) return -1;
  std::string name = pci_bus_id;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  int node = -1;
  if (!(std::ifstream("/sys/bus/pci/devices/" + name + "/numa_node") >> node) || node < 0) return -1;
  hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(node));
  return object != nullptr ? static_cast<int>(object->logical_index) : -1;
}

bool bind_this_thread(std::span<const int> logical_pus) {
  hwloc_topology_t topology = loaded_topology();
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> all(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  for (const int pu : logical_pus) {
    const hwloc_obj_t unit = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(pu));
    if (unit == nullptr) return false;
    hwloc_bitmap_or(all.get(), all.get(), unit->cpuset);
  }
  return hwloc_set_cpubind(topology, all.get(), HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace quarkstar::runtime
