#pragma once
// Host memory: what the runtime holds, and what there is.
#include <cstddef>
#include <optional>
#include <string>

namespace quarkstar::runtime {

/// Bytes of host memory that the runtime holds for handles, pinned or not; other memory of the program is not in it.
struct HostMemoryUse {
  std::size_t now = 0, peak = 0;  ///< peak: the most since the last restart_peak()
};
HostMemoryUse host_memory_use();
void restart_peak();

/// For the allocator of the session only.
void count_host_memory(std::size_t bytes, bool taken);

/// Bytes that this process can still take: what the kernel calls available, or less where a control group (version 2) allows less.
/// None where neither can be read. root: "" but in tests, which put a tree of their own there.
std::optional<std::size_t> available_host_memory(const std::string& root = {});

}  // namespace quarkstar::runtime
