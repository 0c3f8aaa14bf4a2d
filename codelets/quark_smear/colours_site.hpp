#pragma once
// Spinors as colour vectors, and the links in space between them, at one site: one body for CPUs and GPUs.
#include "codelets/arch/items.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/lattice/block_shape.hpp"

namespace quarkstar::quark_smear {

/// Vectors of one parity of a block as colour vectors: spin s of the i-th is colour vector first + spins i + s.
struct ColoursTask {
  BlockShape spinors, colours;
  VectorPlaces spinor_places, colour_places;
  int parity, spins, count, first;
  int vector[most_vectors];  ///< of the spinor field, for each
};

/// Copies one lane of colour vectors from the spinors, or back.
template <bool Back>
struct MoveColours {
  static constexpr const char* name = Back ? "quark_smear.gather" : "quark_smear.spread";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const ColoursTask& task) { return VectorItem::items(task.colours.outer_sites(), 1, task.colours.lanes); }
  QUARKSTAR_HD static void run(const ColoursTask& task, std::int64_t item, double* to, const double* from) {
    const auto [outer, one, lane] = VectorItem(item, 1, task.colours.lanes);
    const SitePosition at = task.spinors.locate(task.colours.local_site({task.parity, outer, lane}));
    const VectorPlaces &of_spinors = task.spinor_places, &of_colours = task.colour_places;
    const int reals = 6 * task.spins, chunk = of_spinors.chunked != 0 ? site::chunk_words<double>(reals) : 1;
    for (int i = 0; i < task.count; ++i) {
      const int v = task.vector[i];
      const std::ptrdiff_t group = static_cast<std::ptrdiff_t>(of_spinors.group(reals, at.outer, v));
      for (int s = 0; s < task.spins; ++s) {
        const auto vector = static_cast<std::ptrdiff_t>(of_colours.offset(6, outer, task.first + i * task.spins + s, lane));
        for (int w = 0; w < 6; ++w) {
          const std::ptrdiff_t a = group + site::word_place(6 * s + w, of_spinors.lane_of(v, at.lane), of_spinors.width(), chunk),
                               b = vector + w * of_colours.width();
          if constexpr (Back) to[a] = from[b];
          else to[b] = from[a];
        }
      }
    }
  }
};

/// Links of a block for hops in some directions, both parities.
struct HopLinksTask {
  BlockShape shape;
  gauge::LinkShape links;
  unsigned directions;  ///< bit d: of +x, -x, ..., -t
  double factor;
};

/// Stores what leads to the neighbours of one lane: factor U_k(x), factor U_k^+(x - k), zero in other directions.
struct WriteHopLinks {
  static constexpr const char* name = "quark_smear.links";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const HopLinksTask& task) { return VectorItem::items(task.shape.outer_sites(), 2, task.shape.lanes); }
  QUARKSTAR_HD static void run(const HopLinksTask& task, std::int64_t item, double* even, double* odd, const double* links) {
    const auto [outer, parity, lane] = VectorItem(item, 2, task.shape.lanes);
    double* to = parity == 0 ? even : odd;
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
};

}  // namespace quarkstar::quark_smear
