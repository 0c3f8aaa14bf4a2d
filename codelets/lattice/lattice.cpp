#include "codelets/lattice/lattice.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>

namespace quarkstar {

bool Lattice::is_on_gpus(const runtime::Decomposition& decomposition) {
  if (!runtime::Session::is_running()) return false;
  const runtime::Session& session = runtime::Session::current();
  const std::vector<int>& local = decomposition.local();
  return !session.cpus_join() &&
         std::all_of(local.begin(), local.end(), [&](int b) { return decomposition.block(b).owner < session.gpu_count(); });
}

std::optional<int> Lattice::only_gpu(const runtime::Decomposition& decomposition) {
  if (!is_on_gpus(decomposition) || runtime::Session::current().gpu_count() != 1) return std::nullopt;
  return runtime::Session::current().worker(0).device;
}

int Lattice::vectors_in_lanes_of(Precision precision, const LayoutRequest& layout, bool on_gpus) {
  const int wanted = layout.vectors_in_lanes;
  if (wanted != 1 && wanted != 8 && wanted != 16 && !(wanted == 12 && on_gpus))
    throw ShapeError("Lattice", "vectors in lanes are 8 or 16, on GPUs also 12");
  if (wanted != 1 && layout.slices > 1 && (wanted != layout.slices || !on_gpus))
    throw ShapeError("Lattice", "lanes hold all slices of a vector, on GPUs");
  return precision == Precision::double_ && !on_gpus ? std::min(wanted, 8) : wanted;
}

void Lattice::require_part(const char* where, const Box& box, int before) const {
  const Coord& all = decomposition_.lattice();
  const Box part = decomposition_.part();
  for (int mu = 0; mu < 4; ++mu) {
    if (box.extents[mu] == all[mu]) continue;
    const int layers = part.extents[mu] < all[mu] ? before : 0;
    const int start = (part.origin[mu] - layers - box.origin[mu] + 2 * all[mu]) % all[mu];
    if (box.extents[mu] > all[mu] || start + layers + part.extents[mu] > box.extents[mu])
      throw ShapeError(where, "the host field does not hold this rank's part of the lattice");
  }
}

}  // namespace quarkstar
