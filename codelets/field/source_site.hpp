#pragma once
// What a source is at one site: one body for CPUs and GPUs.
#include "codelets/arch/items.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/block_shape.hpp"

namespace quarkstar {

/// Sources in one block. Sites are counted from the corner of this rank's part.
struct SourceTask {
  BlockShape shape;
  VectorPlaces places;
  Coord origin;       ///< of the block
  Coord part;         ///< extents
  int parity, reals;  ///< of a vector
  int time[most_vectors], column[most_vectors],
      number[most_vectors];  ///< of each vector: time slice (-1: not in this part), first slice in the table
  bool mixes[most_vectors];  ///< whether the table has nine slices for it, [colour of the column][colour], not one
};

/// Place of a complex number in a table of slices of a part.
QUARKSTAR_HD std::ptrdiff_t place_in_table(const Coord& part, std::ptrdiff_t slice, const Coord& x) {
  return 2 * (slice * part[0] * part[1] * part[2] + x[0] + part[0] * (x[1] + part[1] * x[2]));
}

/// Writes vector v of one lane.
struct WriteSource {
  static constexpr const char* name = "source";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const SourceTask& task) {
    return VectorItem::items(task.shape.outer_sites(), task.places.vectors, task.shape.lanes);
  }
  QUARKSTAR_HD static void run(const SourceTask& task, std::int64_t item, double* field, const double* table) {
    const auto [outer, v, lane] = VectorItem(item, task.places.vectors, task.shape.lanes);
    Coord x = task.shape.local_site({task.parity, outer, lane});
    for (int mu = 0; mu < 4; ++mu) x[mu] += task.origin[mu];
    const bool here = x[3] == task.time[v], mixes = task.mixes[v];
    const int column = task.column[v], colour = column % 3;
    double* group = field + task.places.group(task.reals, outer, v);
    const int chunk = task.places.chunked != 0 ? site::chunk_words<double>(task.reals) : 1;
    for (int c = 0; c < task.reals / 2; ++c) {
      const bool set = here && (mixes ? c / 3 == column / 3 : c == column);
      const double* at = table + (set ? place_in_table(task.part, task.number[v] + (mixes ? 3 * colour + c % 3 : 0), x) : 0);
      for (int i = 0; i < 2; ++i)
        group[site::word_place(2 * c + i, task.places.lane_of(v, lane), task.places.width(), chunk)] = set ? at[i] : 0;
    }
  }
};

/// Smeared points, three colour vectors each, from a block to the table.
struct SliceTask {
  BlockShape shape;
  VectorPlaces places;
  Coord origin;  ///< of the block, from the part's corner
  Coord part;
  int parity, sources;
  int time[most_vectors], number[most_vectors];  ///< of each source, as in SourceTask
};

/// Writes what one lane has of the sources' time slices.
struct WriteSlices {
  static constexpr const char* name = "source.slices";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const SliceTask& task) { return VectorItem::items(task.shape.outer_sites(), 1, task.shape.lanes); }
  QUARKSTAR_HD static void run(const SliceTask& task, std::int64_t item, double* table, const double* field) {
    const auto [outer, one, lane] = VectorItem(item, 1, task.shape.lanes);
    Coord x = task.shape.local_site({task.parity, outer, lane});
    for (int mu = 0; mu < 4; ++mu) x[mu] += task.origin[mu];
    for (int v = 0; v < 3 * task.sources; ++v) {
      if (x[3] != task.time[v / 3]) continue;
      const double* from = field + task.places.offset(6, outer, v, lane);
      for (int w = 0; w < 6; ++w)
        table[place_in_table(task.part, task.number[v / 3] + 3 * (v % 3) + w / 2, x) + w % 2] = from[w * task.places.width()];
    }
  }
};

}  // namespace quarkstar
