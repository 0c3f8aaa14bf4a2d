#include "codelets/lattice/block_geometry.hpp"

#include <algorithm>

#include "runtime/error.hpp"

namespace quarkstar {

BlockGeometry::BlockGeometry(const runtime::Decomposition& decomposition, int block, const LaneGrid& lanes,
                             const BoundaryAngles& boundary)
    : block_(decomposition.block(block)), lanes_(lanes) {
  shape_.lanes = lanes.lanes;
  shape_.stride = lanes.stride;
  shape_.origin_parity = parity_of(block_.origin);
  for (int mu = 0; mu < 4; ++mu) {
    shape_.outer[mu] = block_.extents[mu] / (lanes.splits(mu) ? 2 : 1);
    cut_[mu] = decomposition.is_cut(mu);
    if (lanes.splits(mu) && block_.extents[mu] % 4 != 0)
      throw ShapeError("BlockGeometry", "a direction whose extent is no multiple of 4 is split over lanes");
  }
  if (shape_.outer[0] % 2 != 0) throw ShapeError("BlockGeometry", "the outer x extent is odd");
  // Tables hold 32-bit offsets, up to 40 words an outer site, and entries with 3 flag bits.
  constexpr std::int64_t most_outer_sites = std::int64_t{1} << 26;
  if (volume(shape_.outer) / 2 > most_outer_sites)
    throw Error(ErrorKind::input, "--blocks", "a block has more sites than its tables can number", "cut the lattice into more blocks");
  build_packs();
  for (int parity = 0; parity < 2; ++parity) build_neighbours(parity, decomposition, boundary);
  upload();
}

void BlockGeometry::build_packs() {
  for (int parity = 0; parity < 2; ++parity)
    for (int direction = 0; direction < 8; ++direction) {
      const int mu = direction / 2;
      TableRange& range = pack_[parity][direction];
      range.offset = static_cast<std::uint32_t>(tables_.size());
      if (!cut_[mu]) continue;
      // A reader that looks forward meets this block's lower edge.
      const int edge = direction % 2 == 0 ? 0 : shape_.outer[mu] - 1;
      for (int index = 0; index < outer_sites(); ++index)
        if (shape_.outer_coordinates(parity, index)[mu] == edge) tables_.push_back(static_cast<std::uint32_t>(index));
      range.count = static_cast<std::uint32_t>(tables_.size()) - range.offset;
    }
}

void BlockGeometry::build_neighbours(int parity, const runtime::Decomposition& decomposition, const BoundaryAngles& boundary) {
  std::vector<std::uint32_t> entries, inside, edge_sites, edge_faces;
  std::uint32_t next_face[8]{};
  for (int index = 0; index < outer_sites(); ++index) {
    const Coord here = shape_.outer_coordinates(parity, index);
    bool on_edge = false;
    std::uint32_t faces[8]{};
    for (int direction = 0; direction < 8; ++direction) {
      const int mu = direction / 2;
      const bool forward = direction % 2 == 0;
      const bool crosses = here[mu] == (forward ? shape_.outer[mu] - 1 : 0);
      Coord there = here;
      there[mu] = crosses ? (forward ? 0 : shape_.outer[mu] - 1) : here[mu] + (forward ? 1 : -1);
      std::uint32_t entry = static_cast<std::uint32_t>(shape_.outer_index(there)) << neighbour_entry::shift;
      if (crosses) {
        if (lanes_.splits(mu)) entry |= neighbour_entry::exchange;
        const int last = decomposition.grid()[mu] - 1;
        if (boundary[mu] != 0 && block_.position[mu] == (forward ? last : 0)) entry |= neighbour_entry::phase;
        if (cut_[mu]) {
          entry |= neighbour_entry::face;
          // Sites of an edge appear here in the order in which the neighbour packs them: both run through the
          // transverse coordinates lexicographically.
          faces[direction] = next_face[direction]++;
          on_edge = true;
        }
      }
      entries.push_back(entry);
    }
    if (on_edge) {
      edge_sites.push_back(static_cast<std::uint32_t>(index));
      edge_faces.insert(edge_faces.end(), faces, faces + 8);
    } else {
      inside.push_back(static_cast<std::uint32_t>(index));
    }
  }
  const auto append = [this](const std::vector<std::uint32_t>& part) {
    const auto offset = static_cast<std::uint32_t>(tables_.size());
    tables_.insert(tables_.end(), part.begin(), part.end());
    return TableRange{offset, static_cast<std::uint32_t>(part.size())};
  };
  neighbours_[parity] = append(entries).offset;
  interior_[parity] = append(inside);
  boundary_[parity] = append(edge_sites);
  boundary_faces_[parity] = append(edge_faces).offset;
}

void BlockGeometry::upload() {
  handle_ = runtime::Handle(tables_.size() * sizeof(std::uint32_t));
  {
    runtime::HostView<std::uint32_t> view(handle_, runtime::HostAccess::overwrite);
    std::copy(tables_.begin(), tables_.end(), view.get());
  }
  handle_.freeze();
}

}  // namespace quarkstar
