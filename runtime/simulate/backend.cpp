// The simulated machine (cmake/layers.cmake: built for simulations only).
#include "runtime/backend.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::runtime::backend {

std::optional<double> known_triad_gbs(std::span<const int> workers) {
  double triad = 0;
  for (const int id : workers) triad += simulate::machine().team_gbs(Session::current().worker(id).team.threads(), 1);
  return triad;
}

std::optional<double> known_gpu_triad_gbs(int device) { return simulate::machine().gpu(device).triad_gbs; }

std::optional<RankBatches> take_rank_batches() {
  if (!simulate::stands_for_ranks()) return std::nullopt;
  const simulate::BatchParts parts = simulate::take_batch_parts();
  return RankBatches{simulate::rank_nodes().count(), parts.kernels, parts.faces_inside, parts.faces_between, parts.sums};
}

void set_refresh_due(bool due) { simulate::set_refresh_due(due); }

}  // namespace quarkstar::runtime::backend
