#pragma once
// Copies between four-dimensional fields and slices: the contract between the codelet and its CUDA kernels.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar {
namespace domain_wall {

/// The words of chirality + are the first half of a spinor's, in rows and in chunks. upper, lower: slices that have the components of
/// chirality + and - of the four-dimensional field.
struct WallArguments {
  double* to;
  const double* from;
  std::int64_t outer_sites;
  int slices, vectors, words;  ///< of a spinor, of all lanes
  int upper, lower;
  bool load;  ///< into slices, the others becoming 0; else out of them

  /// Words to write.
  QUARKSTAR_HD std::int64_t count() const { return outer_sites * (load ? slices : 1) * vectors * words; }
  /// Writes word i.
  QUARKSTAR_HD void copy(std::int64_t i) const {
    const std::int64_t word = i % words, site_vector = i / words, vector = site_vector % vectors, rest = site_vector / vectors;
    const int wanted = 2 * word < words ? upper : lower;
    if (load) {
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
