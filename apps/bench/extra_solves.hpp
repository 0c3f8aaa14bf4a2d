#pragma once
// What `bench solver` is asked to find out by solves of their own, which are not timed.
#include <string>

namespace quarkstar::app {

struct ExtraSolves {
  bool bound = false;    ///< lower bounds of the task graph
  bool profile = false;  ///< where the time of each worker went, and what moved between memories
  std::string trace;     ///< file for the tasks (of the last row); empty: none
};

}  // namespace quarkstar::app
