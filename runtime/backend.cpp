// This machine (cmake/layers.cmake leaves it out of simulations).
#include "runtime/backend.hpp"

namespace quarkstar::runtime::backend {

std::optional<double> known_triad_gbs(std::span<const int>) { return {}; }
std::optional<double> known_gpu_triad_gbs(int) { return {}; }

std::optional<RankBatches> take_rank_batches() { return std::nullopt; }

void set_refresh_due(bool) {}

}  // namespace quarkstar::runtime::backend
