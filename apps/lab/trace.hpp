#pragma once
// A run's tasks, read back from its Chrome trace, and cut to a piece that a page can hold.
#include <cstddef>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

struct TraceTask {
  int worker = 0, block = -1;
  std::size_t name = 0;  ///< index into Trace::names
  double begin_us = 0, duration_us = 0;
};

struct Trace {
  std::vector<std::string> workers, names;  ///< names of codelets
  std::vector<std::string> kinds;           ///< of the codelets
  std::vector<TraceTask> tasks;             ///< by begin
  std::size_t all_tasks = 0;                ///< before the cut
};

/// At most `most` consecutive tasks from the middle. Throws Error(input) naming the file where it cannot be read or is no such trace.
Trace read_trace(const std::string& path, std::size_t most);

}  // namespace quarkstar::app::lab
