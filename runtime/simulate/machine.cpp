#include "runtime/simulate/machine.hpp"

#include <algorithm>

namespace quarkstar::runtime::simulate {

double Efficiency::of(std::string_view codelet) const {
  double fraction = 1;
  std::size_t longest = 0;
  for (const Entry& entry : entries)
    if (entry.codelet.size() > longest && codelet.starts_with(entry.codelet)) {
      longest = entry.codelet.size();
      fraction = entry.fraction;
    }
  return fraction;
}

double Device::kernel_time_us(std::string_view codelet, double flops, double bytes, double gbs) const {
  const double peak = codelet.find("double") != codelet.npos ? peak_double_gflops : peak_single_gflops;
  return kernel_us + std::max(bytes / (efficiency.of(codelet) * gbs), flops / peak) * 1e-3;
}

double Machine::team_gbs(int threads, int teams) const { return std::min(cpu.triad_gbs / teams, core_triad_gbs * threads); }

Machine::Link Machine::between(int a, int b) const {
  if (reach_each_other(a, b)) return {gpu_gpu_gbs, gpu_gpu_us};
  // Each part is complete before the next one starts.
  double seconds_a_gb = 2 / host_gpu_gbs, us = 2 * host_gpu_us;
  if (a / gpus != b / gpus) {
    seconds_a_gb += 1 / network_gbs;
    us += network_us;
  }
  return {1 / seconds_a_gb, us};
}

}  // namespace quarkstar::runtime::simulate
