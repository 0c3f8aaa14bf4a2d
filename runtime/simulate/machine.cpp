#include "runtime/simulate/machine.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar::runtime::simulate {

double ByCodelet::of(std::string_view codelet, double otherwise) const {
  double number = otherwise;
  std::size_t longest = 0;
  for (const Entry& entry : entries)
    if (entry.codelet.size() > longest && codelet.starts_with(entry.codelet)) {
      longest = entry.codelet.size();
      number = entry.number;
    }
  return number;
}

double Device::kernel_time_us(std::string_view codelet, double flops, double bytes, double gbs, double part) const {
  const double peak = codelet.find("double") != codelet.npos ? peak_double_gflops : peak_single_gflops;
  const double memory = bytes / (efficiency.of(codelet, 1) * gbs), cached = part * cached_gflops.of(codelet, 0);
  return kernel_us + std::max(cached > 0 ? std::hypot(memory, flops / cached) : memory, flops / (part * peak)) * 1e-3;
}

double Machine::team_gbs(int threads, int teams) const { return std::min(cpu.triad_gbs / teams, core_triad_gbs * threads); }

double Machine::team_part(int threads) const { return std::min(1.0, static_cast<double>(threads) / cores); }

const Device& Machine::gpu(int number) const {
  std::size_t kind = 0;
  for (int left = number % gpus; left >= gpu_kinds[kind].count; ++kind) left -= gpu_kinds[kind].count;
  return gpu_kinds[kind].device;
}

double Machine::host_face_gbs() const { return std::min(host_gpu_gbs, host_gbs / gpus); }

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

Machine::Link Machine::copy_between(int a, int b) const {
  Link link = between(a, b);
  if (reach_each_other(a, b)) link.us = gpu_copy_us;
  return link;
}

}  // namespace quarkstar::runtime::simulate
