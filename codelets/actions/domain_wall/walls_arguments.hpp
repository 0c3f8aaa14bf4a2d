#pragma once
// Copies between four-dimensional fields and slices: the contract between the codelet and its CUDA kernels.
#include "codelets/field/word_place.hpp"
#include "runtime/gpu/cuda.hpp"

#include <cstdint>

namespace quarkstar {
namespace domain_wall {

/// The words of chirality + are the first half of a spinor's, in rows and in chunks. upper, lower: slices that have the components of
/// chirality + and - of the four-dimensional field. in_lanes: lanes hold the slices, in chunks, and those of the field of four dimensions
/// one site.
struct WallArguments {
  double* to;
  const double* from;
  std::int64_t outer_sites;
  int slices, vectors, words;  ///< of a spinor, of all lanes
  int upper, lower;
  bool load, in_lanes;  ///< load: into slices, the others becoming 0; else out of them

  /// Words to write, in lanes those of all slices at a time.
  QUARKSTAR_HD std::int64_t count() const { return outer_sites * (load && !in_lanes ? slices : 1) * vectors * words; }
  /// Writes word i.
  QUARKSTAR_HD void copy(std::int64_t i) const {
    const std::int64_t word = i % words, site_vector = i / words, vector = site_vector % vectors, rest = site_vector / vectors;
    const int wanted = 2 * word < words ? upper : lower;
    const auto place_in_lanes = [&](std::int64_t slice) {
      return (rest * vectors + vector) * words * slices +
             site::word_place(static_cast<int>(word), static_cast<int>(slice), slices, site::chunk_words<double>(words));
    };
    if (in_lanes && load) {
      for (int slice = 0; slice < slices; ++slice) to[place_in_lanes(slice)] = slice == wanted ? from[i] : 0.0;
    } else if (in_lanes) {
      to[i] = from[place_in_lanes(wanted)];
    } else if (load) {
      const std::int64_t slice = rest % slices, outer = rest / slices;
      to[i] = slice == wanted ? from[(outer * vectors + vector) * words + word] : 0.0;
    } else {
      to[i] = from[((rest * slices + wanted) * vectors + vector) * words + word];
    }
  }
};

}  // namespace domain_wall

namespace cuda {
void launch_walls(const domain_wall::WallArguments& arguments, runtime::CudaStream stream);
}
}  // namespace quarkstar
