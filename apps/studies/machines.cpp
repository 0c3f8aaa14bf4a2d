#include "apps/studies/machines.hpp"

#include <unistd.h>

#include <algorithm>

namespace quarkstar::app::model {
namespace {

constexpr const char* seed0 = "seed 0 (GTC 2015), slide 6";
constexpr const char* seed1 = "seed 1 (LATTICE 2015), table 1";
constexpr const char* seed2 = "seed 2 (S9708), slide 14";

/// Triads that seed 0 shows in a chart, without numbers. The machine files beside this one have the same ones for simulations
/// (tests/unit/simulate_test.cpp).
constexpr const char* kepler_triad =
    "STREAM in CUDA with ECC (github.com/mohamso/stream-cuda: K20c 151.0, K20m 151.1, K20X 180.5 to 181.6); seed 0 has a chart without "
    "numbers";
constexpr const char* k40_copy =
    "0.70 of the peak, as a copy on a Tesla K40m (202.7 of 288 GB/s, Microway, bandwidthTest); seed 0 has a chart without numbers";
constexpr double phi_triad = 161.829 / 352;  // McCalpin's STREAM on a Xeon Phi SE10P, 352 GB/s at peak

Machine xeon_phi(const char* name, double single, double twice, double bandwidth, double watts) {
  return {name,
          {single, seed0},
          {twice, seed0},
          {bandwidth, seed0},
          {bandwidth * phi_triad,
           "0.46 of the peak, as STREAM on a Xeon Phi SE10P (161.8 of 352 GB/s, J. D. McCalpin, 2013); seed 0 has a chart without numbers"},
          {512, "seed 0, slide 13: L2 of a core"},
          {watts, seed0}};
}

Machine kepler(const char* name, double single, Figure twice, double bandwidth, Figure triad, double watts) {
  return {name,          {single, seed0}, std::move(twice), {bandwidth, seed0}, std::move(triad), {48, "seed 0, slide 15: L1 of an SMX"},
          {watts, seed0}};
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all{
      xeon_phi("5110", 2.02, 1.01, 320, 225),
      xeon_phi("7120", 2.42, 1.21, 352, 300),
      kepler("K20", 3.52, {1.173, "13 SMX x 64 x 2 flop x 705 MHz; seed 0, slide 6, has 1.27"}, 208, {151.1, kepler_triad}, 225),
      kepler("K20X", 3.91, {1.31, seed0}, 250, {181, kepler_triad}, 235),
      kepler("K40", 4.29, {1.43, seed0}, 288, {202.7, k40_copy}, 235),
      {"POWER8",
       {1.15968, "seed 1, section 1: two sockets of 579.84 GFLOP/s"},
       {0.57984, "seed 1, section 1: two sockets of 289.92 GFLOP/s"},
       {192,
        std::string(seed1) + ", read as that of a node of two sockets: a K40 then has three times a socket's, as seed 1, section 4, finds"},
       {2 * 202.7 / 3,
        "a third of a K40's a socket: seed 1, section 4, finds a K40 three times as fast as a POWER8; no document states one"},
       {512, "IBM, POWER8: L2 of a core"},
       {{}, "no document states one"}},
      {"V100",
       {15.7, "NVIDIA, Tesla V100 SXM2 data sheet"},
       {7.8, "NVIDIA, Tesla V100 SXM2 data sheet"},
       {900, "NVIDIA, Tesla V100 SXM2 data sheet"},
       {850, seed2},
       {128, "NVIDIA, V100 architecture: L1 of an SM"},
       {300, "NVIDIA, Tesla V100 SXM2 data sheet"}},
  };
  return all;
}

const Machine* find_machine(const std::vector<Machine>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Machine& machine) { return machine.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Figure cache_here() {
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes <= 0) return {{}, "the system does not tell"};
  return {static_cast<double>(bytes) / 1024, "L2 of a core, sysconf"};
}

}  // namespace quarkstar::app::model
