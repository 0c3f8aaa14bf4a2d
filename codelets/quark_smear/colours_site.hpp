#pragma once
// Spinors as colour vectors, and the links in space between them, at one site: one body for CPUs and GPUs.
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/lattice/block_shape.hpp"

#include <type_traits>

namespace quarkstar::quark_smear {

/// Vectors of one parity of a block as colour vectors: spin s of the i-th is colour vector first + spins i + s.
struct ColoursTask {
  BlockShape spinors, colours;
  VectorPlaces spinor_places, colour_places;
  int parity, spins, count, first;
  int vector[most_vectors];  ///< of the spinor field, for each
};

/// Copies one lane of colour vectors from the spinors, or back: to those that are not const.
template <class Spinors, class Colours>
QUARKSTAR_HD void move_colours(Spinors* spinors, Colours* colours, const ColoursTask& task, int outer, int lane) {
  const SitePosition at = task.spinors.locate(task.colours.local_site({task.parity, outer, lane}));
  const VectorPlaces &of_spinors = task.spinor_places, &of_colours = task.colour_places;
  const int reals = 6 * task.spins, chunk = of_spinors.chunked != 0 ? site::chunk_words<double>(reals) : 1;
  for (int i = 0; i < task.count; ++i) {
    const int v = task.vector[i];
    Spinors* group = spinors + of_spinors.group(reals, at.outer, v);
    for (int s = 0; s < task.spins; ++s) {
      Colours* vector = colours + of_colours.offset(6, outer, task.first + i * task.spins + s, lane);
      for (int w = 0; w < 6; ++w) {
        Spinors& a = group[site::word_place(6 * s + w, of_spinors.lane_of(v, at.lane), of_spinors.width(), chunk)];
        Colours& b = vector[w * of_colours.width()];
        if constexpr (std::is_const_v<Spinors>) b = a;
        else a = b;
      }
    }
  }
}

/// Links of a block for hops in some directions, both parities.
struct HopLinksTask {
  BlockShape shape;
  gauge::LinkShape links;
  unsigned directions;  ///< bit d: of +x, -x, ..., -t
  double factor;
};

/// Stores what leads to the neighbours of one lane: factor U_k(x), factor U_k^+(x - k), zero in other directions.
QUARKSTAR_HD void write_hop_links(double* to, const double* links, const HopLinksTask& task, int parity, int outer, int lane) {
  const Coord x = task.shape.local_site({parity, outer, lane});
  const gauge::LinkStrides strides = task.links.strides();
  const gauge::StridedLinks<double> around(links, strides);
  const int lanes = task.shape.lanes;
  for (int d = 0; d < 8; ++d) {
    site::Link<double> link{};
    if ((task.directions >> d & 1) != 0) {
      link = around.load_step(task.links.offset(x), d / 2, d % 2 == 0);
      for (auto& row : link.entries)
        for (site::Complex<double>& z : row) z = scaled(task.factor, z);
    }
    site::write_link(to + (static_cast<std::ptrdiff_t>(outer) * 8 + d) * 18 * lanes + lane, link, lanes);
  }
}

}  // namespace quarkstar::quark_smear
