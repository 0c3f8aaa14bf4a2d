#include "runtime/system/memory.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>

namespace quarkstar::runtime {
namespace {

std::atomic<std::size_t> held{0}, most_held{0};

/// The number at the start of a file; none where there is no file, or "max" in it.
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (!(file >> value)) return {};
  return value;
}

/// The number behind a key of a file of "key number" lines; 0 where there is none.
std::size_t number_of_key(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key;
  std::size_t value = 0;
  while (file >> key >> value)
    if (key == wanted) return value;
  return 0;
}

std::optional<std::size_t> kernel_available(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string key, unit;
  std::size_t kibibytes = 0;
  while (file >> key >> kibibytes && std::getline(file, unit))
    if (key == "MemAvailable:") return kibibytes * 1024;
  return {};
}

/// What the control group of this process leaves. In a container its own group appears as the root of the tree.
std::optional<std::size_t> group_available(const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup";
  std::ifstream own(root + "/proc/self/cgroup");
  std::string line, path;
  while (std::getline(own, line))
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  std::optional<std::size_t> least;
  // A limit of any group above counts too.
  for (;;) {
    if (path == "/") path.clear();
    const std::string group = groups + path;
    if (const auto limit = number_in(group + "/memory.max"), used = number_in(group + "/memory.current"); limit && used) {
      // Files that were read stay in memory until somebody needs it.
      const std::string details = group + "/memory.stat";
      const std::size_t cache = number_of_key(details, "inactive_file") + number_of_key(details, "active_file");
      const std::size_t taken = *used - std::min(*used, cache);
      least = std::min(least.value_or(*limit), *limit - std::min(*limit, taken));
    }
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

HostMemoryUse host_memory_use() { return {held.load(), most_held.load()}; }

void restart_peak() { most_held.store(held.load()); }

void count_host_memory(std::size_t bytes, bool taken) {
  if (!taken) {
    held.fetch_sub(bytes);
    return;
  }
  const std::size_t now = held.fetch_add(bytes) + bytes;
  std::size_t most = most_held.load();
  while (now > most && !most_held.compare_exchange_weak(most, now)) {
  }
}

std::optional<std::size_t> available_host_memory(const std::string& root) {
  const auto kernel = kernel_available(root), group = group_available(root);
  if (!kernel || !group) return kernel ? kernel : group;
  return std::min(*kernel, *group);
}

}  // namespace quarkstar::runtime
