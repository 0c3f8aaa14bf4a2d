#pragma once
// What the machine looks like: NUMA domains and the processing units that belong to each, read through hwloc.
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::runtime {

/// One NUMA domain: the cores (one processing unit each, hwloc logical index) that reach its memory locally.
struct Domain {
  int numa_node = 0;             ///< hwloc logical index of the memory node
  std::size_t memory_bytes = 0;  ///< local memory
  std::vector<int> cores;        ///< logical index of the first usable processing unit of each core
};

/// The CPU side of a node.
class Topology {
 public:
  Topology() = default;
  Topology(std::vector<Domain> domains, std::string cpu_model) : domains_(std::move(domains)), cpu_model_(std::move(cpu_model)) {}
  /// Discovers this machine, or the hwloc XML file named by $HWLOC_XMLFILE. Only cores that this process may use count
  /// (control groups, and the CPU mask at the first call); each belongs to one domain.
  /// Throws Error(environment) when hwloc cannot read the machine.
  static Topology discover();

  /// What is left for the index-th of `count` processes that share these cores: consecutive cores, so that domains stay together as far
  /// as possible; with more processes than cores one core each, used by several.
  Topology share(int index, int count) const;

  const std::vector<Domain>& domains() const { return domains_; }
  /// Of all domains, one behind the other.
  std::vector<int> all_cores() const;
  const std::string& cpu_model() const { return cpu_model_; }
  /// Of the caches, from the second level on, that these cores reach: what they may keep of large fields. 0: not known.
  double cache_bytes() const { return cache_bytes_; }
  int cores() const;

 private:
  std::vector<Domain> domains_;
  std::string cpu_model_;
  double cache_bytes_ = 0;
};

/// The memory node (Domain::numa_node) that a PCI device is attached to, by the kernel's word; "0000:3b:00.0". -1: not
/// known, as on machines of one node and in descriptions of other machines.
int numa_node_near(const std::string& pci_bus_id);

/// Binds the calling thread to these processing units (hwloc logical indices). False where the system does not allow it.
bool bind_this_thread(std::span<const int> logical_pus);
inline bool bind_this_thread(int logical_pu) { return bind_this_thread(std::span(&logical_pu, 1)); }

}  // namespace quarkstar::runtime
