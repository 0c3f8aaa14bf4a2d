#pragma once
// A made-up table of neighbours: any site may follow any other, and any hop may be special.
#include "codelets/lattice/neighbour_entry.hpp"
#include "tests/kernels/numbers.hpp"

#include <cstdint>
#include <vector>

namespace quarkstar::kernels {

inline constexpr int face_sites = 5;

struct Neighbours {
  std::vector<std::uint32_t> entries;   ///< [site][direction]
  std::vector<std::uint32_t> faces_at;  ///< [list position][direction]

  /// flags: those that may occur, one hop in two; exchange only where the direction is split.
  Neighbours(Numbers& numbers, int sites, const std::array<int, 4>& stride, std::uint32_t flags) {
    for (int s = 0; s < sites; ++s)
      for (int d = 0; d < 8; ++d) {
        const auto next = static_cast<std::uint32_t>(numbers.below(sites));
        std::uint32_t special = static_cast<std::uint32_t>(numbers.below(16)) & flags;
        if (numbers.below(2) == 0) special = 0;
        if (stride[static_cast<std::size_t>(d / 2)] == 0) special &= ~neighbour_entry::exchange;
        entries.push_back(next << neighbour_entry::shift | special);
        faces_at.push_back(static_cast<std::uint32_t>(numbers.below(face_sites)));
      }
  }
  int site(int s, int d) const { return static_cast<int>(entries[static_cast<std::size_t>(s * 8 + d)] >> neighbour_entry::shift); }
  bool has(int s, int d, std::uint32_t flag) const { return (entries[static_cast<std::size_t>(s * 8 + d)] & flag) != 0; }
};

/// Whether a lane lies on the edge that a hop in direction d crosses.
inline bool on_edge(int lane, int stride, int d) { return stride == 0 || ((lane & stride) != 0) == (d % 2 == 0); }
/// Its place in a face.
inline int lane_of_face(int lane, int stride) { return stride == 0 ? lane : (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1)); }

}  // namespace quarkstar::kernels
