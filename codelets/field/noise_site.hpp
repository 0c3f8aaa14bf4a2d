#pragma once
// Normal numbers at one site: one body for CPUs and GPUs.
#include "codelets/arch/items.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "codelets/lattice/random.hpp"

namespace quarkstar {

/// Noise on one parity of one block.
struct NoiseTask {
  std::uint64_t seed, first;
  BlockShape shape;
  VectorPlaces places;
  Coord origin, lattice;
  int parity, components;
};

/// Writes vector v of one lane, or slice v / n of vector v % n of n.
template <class F>
struct WriteNoise {
  static constexpr const char* name = sizeof(F) == sizeof(double) ? "noise.double" : "noise.single";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const NoiseTask& task) {
    return VectorItem::items(task.shape.outer_sites(), task.places.vectors, task.shape.lanes);
  }
  QUARKSTAR_HD static void run(const NoiseTask& task, std::int64_t item, F* field) {
    const auto [outer, v, lane] = VectorItem(item, task.places.vectors, task.shape.lanes);
    Coord x = task.shape.local_site({task.parity, outer, lane});
    for (int mu = 0; mu < 4; ++mu) x[mu] += task.origin[mu];
    const int slice = v / task.places.right_hand_sides;
    RandomStream stream(task.seed, RandomPurpose::null_vectors, slice * volume(task.lattice) + lexicographic(x, task.lattice),
                        task.first + static_cast<std::uint64_t>(task.places.right_hand_side(v)));
    const int reals = 2 * task.components, chunk = task.places.chunked != 0 ? site::chunk_words<F>(reals) : 1;
    F* group = field + task.places.group(reals, outer, v);
    std::array<double, 4> numbers{};
    for (int w = 0; w < reals; ++w) {
      if (w % 4 == 0) numbers = stream.gaussians();
      group[site::word_place(w, task.places.lane_of(v, lane), task.places.width(), chunk)] =
          static_cast<F>(numbers[static_cast<std::size_t>(w % 4)]);
    }
  }
};

}  // namespace quarkstar
