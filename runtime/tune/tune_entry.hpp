#pragma once
#include <vector>

namespace quarkstar::runtime {

/// A measured choice: its numbers (their meaning is the kernel's), and the microseconds that they took.
struct TuneEntry {
  std::vector<int> choice;
  double microseconds = 0;
  friend bool operator==(const TuneEntry&, const TuneEntry&) = default;
};

}  // namespace quarkstar::runtime
