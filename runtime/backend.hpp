#pragma once
// What runs the tasks: this machine, or in a build for simulation (QUARKSTAR_SIMULATION) the model of one. Chosen when a program is built:
// runtime/backend.cpp or runtime/simulate/backend.cpp. The layers above ask here what they must know of it, and nothing else.
#include <optional>
#include <span>

namespace quarkstar::runtime::backend {

#ifdef QUARKSTAR_SIMULATION
inline constexpr bool computes = false;
#else
/// Whether kernels are executed. Where they are not, no number in a handle or a field of the host is ever written or read, fields of the
/// host need no memory, no speed can be measured, and the end of a solve is not known from its residuals.
inline constexpr bool computes = true;
#endif

/// Bandwidth of these CPU workers' memory together, or of a GPU's, GB/s, where it is known without a measurement.
std::optional<double> known_triad_gbs(std::span<const int> workers);
std::optional<double> known_gpu_triad_gbs(int device);

/// Of a job whose ranks one process stands for.
struct RankBatches {
  int nodes = 1;
  /// Microseconds of batches since it was asked last: of kernels if nothing else took time, and what each exchange adds to those before it.
  double kernels_us = 0, faces_inside_us = 0, faces_between_us = 0, sums_us = 0;
};
/// Nothing in a real run, and where there is one rank.
std::optional<RankBatches> take_rank_batches();

/// Where no residual says whether refreshes that are submitted from here on are due.
void set_refresh_due(bool due);

}  // namespace quarkstar::runtime::backend
