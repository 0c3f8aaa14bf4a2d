#pragma once
// What a source is at one site: one body for CPUs and GPUs.
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
      number[most_vectors];  ///< of each vector: time slice (-1: not in this part), place in the table
};

/// Writes vector v of one lane.
QUARKSTAR_HD void write_source(double* field, const double* table, const SourceTask& task, int outer, int lane, int v) {
  Coord x = task.shape.local_site({task.parity, outer, lane});
  for (int mu = 0; mu < 4; ++mu) x[mu] += task.origin[mu];
  double number[2] = {0, 0};
  if (x[3] == task.time[v]) {
    const int slice = task.part[0] * task.part[1] * task.part[2];
    const double* at =
        table + 2 * (static_cast<std::ptrdiff_t>(task.number[v]) * slice + x[0] + task.part[0] * (x[1] + task.part[1] * x[2]));
    number[0] = at[0];
    number[1] = at[1];
  }
  double* group = field + task.places.group(task.reals, outer, v);
  const int chunk = task.places.chunked != 0 ? site::chunk_words<double>(task.reals) : 1;
  for (int w = 0; w < task.reals; ++w)
    group[site::word_place(w, task.places.lane_of(v, lane), task.places.width(), chunk)] = w / 2 == task.column[v] ? number[w % 2] : 0;
}

}  // namespace quarkstar
