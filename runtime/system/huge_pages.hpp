#pragma once
// Whether field memory is on huge pages, as the kernel tells.
#include <cstddef>
#include <string>

namespace quarkstar::runtime {

/// Of the memory in this process that has asked for huge pages (allocate_pages(): fields, links, stream arrays of 2 MiB and more): what is
/// there, and what of it is on huge pages; or why that is not known.
struct HugePageUse {
  std::size_t resident = 0, huge = 0;  ///< bytes
  std::string unavailable;             ///< the reason
  bool available() const { return unavailable.empty(); }
  double fraction() const { return static_cast<double>(huge) / static_cast<double>(resident); }
};
/// Reads what the kernel says of every mapping: milliseconds.
HugePageUse huge_page_use(const std::string& smaps = "/proc/self/smaps");

/// Allocates and writes some huge pages and looks what they became: "granted", "refused", or why that is not known; behind it the kernel's
/// setting (always, madvise, never).
std::string describe_huge_pages(const std::string& setting = "/sys/kernel/mm/transparent_hugepage/enabled");

}  // namespace quarkstar::runtime
