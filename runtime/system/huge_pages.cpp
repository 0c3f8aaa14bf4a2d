#include "runtime/system/huge_pages.hpp"

#include "runtime/simulate/simulate.hpp"
#include "runtime/system/first_line.hpp"
#include "runtime/system/large_pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

namespace quarkstar::runtime {

HugePageUse huge_page_use(const std::string& smaps) {
  HugePageUse use;
  if constexpr (simulate::active) {
    use.unavailable = "simulated";
    return use;
  }
  std::ifstream file(smaps);
  if (!file) {
    use.unavailable = fmt::format("{} cannot be read", smaps);
    return use;
  }
  // "Key:   number kB" for each mapping, its flags last: hg has asked for huge pages.
  std::size_t resident = 0, huge = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Rss:") words >> resident;
    if (key == "AnonHugePages:") words >> huge;
    if (key != "VmFlags:") continue;
    bool asked = false;
    for (std::string flag; words >> flag;) asked = asked || flag == "hg";
    if (!asked) continue;
    use.resident += resident * 1024;
    use.huge += huge * 1024;
  }
  if (use.resident == 0) use.unavailable = "no memory has asked for huge pages";
  return use;
}

std::string describe_huge_pages(const std::string& setting) {
  // Pages of its own: what the C library hands out may have been written, and be huge, before.
  constexpr std::size_t bytes = 4 * huge_page;
  void* const mapped = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return "unavailable: not enough memory to try";
  void* const memory = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(mapped) + huge_page - 1) / huge_page * huge_page);
  madvise(memory, bytes, MADV_HUGEPAGE);
  const HugePageUse before = huge_page_use();
  std::memset(memory, 1, bytes);
  const HugePageUse after = huge_page_use();
  munmap(mapped, bytes + huge_page);
  std::string mode = "no such setting";
  const std::string modes = first_line(setting);
  if (const std::size_t from = modes.find('['), to = modes.find(']'); from != std::string::npos && to != std::string::npos)
    mode = modes.substr(from + 1, to - from - 1);
  if (!after.available()) return fmt::format("unavailable: {} (transparent huge pages: {})", after.unavailable, mode);
  return fmt::format("{} (transparent huge pages: {})", after.huge > before.huge ? "granted" : "refused", mode);
}

}  // namespace quarkstar::runtime
