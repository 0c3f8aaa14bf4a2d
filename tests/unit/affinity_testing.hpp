#pragma once
// Where the calling thread may run.
#include <sched.h>

#include <vector>

namespace quarkstar::runtime_testing {

/// Processing units in the kernel's numbers, ascending; none where it does not tell.
inline std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace quarkstar::runtime_testing
