#pragma once
// Index tables of one block: where each site is stored, who its neighbours are, and which sites touch another block.
#include "codelets/lattice/block_shape.hpp"
#include "codelets/lattice/boundary.hpp"
#include "codelets/lattice/lane_grid.hpp"
#include "codelets/lattice/neighbour_entry.hpp"
#include "runtime/graph/handle.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quarkstar {

/// Part of a table: offset and length in 32-bit words.
struct TableRange {
  std::uint32_t offset = 0, count = 0;
  std::int32_t first = -1;  ///< of a list of sites that is first, first + 1, ...: kernels then need not read it; otherwise -1
};

/// Throws Error(input) naming blocks or ranks where a block, of any rank, is thinner than a hop of `reach` sites in a direction that is
/// cut.
void require_thick_blocks(const runtime::Decomposition& decomposition, int reach);

/// Directions: 2 mu is +mu, 2 mu + 1 is -mu. Parities are of global coordinates. A face is named after the direction in which the
/// block that reads it looks: face d of a block holds the neighbour's sites that a hop along d reaches: its first layer of sites
/// transverse to d, or with reach 3 its first three.
class BlockGeometry {
 public:
  BlockGeometry(const runtime::Decomposition& decomposition, int block, const LaneGrid& lanes, const BoundaryAngles& boundary,
                int reach = 1, const Coord& tile = {});

  const runtime::Block& block() const { return block_; }
  const LaneGrid& lanes() const { return lanes_; }
  const BlockShape& shape() const { return shape_; }
  int outer_sites() const { return shape_.outer_sites(); }  ///< of one parity
  bool is_cut(int mu) const { return cut_[mu]; }
  bool has_faces() const { return cut_[0] || cut_[1] || cut_[2] || cut_[3]; }

  SitePosition locate(const Coord& local) const { return shape_.locate(local); }
  Coord local_site(const SitePosition& position) const { return shape_.local_site(position); }

  /// Entries [outer site * 8 + direction] for sites of one parity.
  std::uint32_t neighbours(int parity) const { return hops_[0].neighbours[parity]; }
  /// The same for hops over three sites (reach 3 only).
  std::uint32_t far_neighbours(int parity) const { return hops_[1].neighbours[parity]; }
  /// Outer sites of one parity none of whose neighbours (within reach) is in another block, and the others.
  TableRange interior(int parity) const { return interior_[parity]; }
  TableRange boundary(int parity) const { return boundary_[parity]; }
  /// For the i-th boundary site: [i * 8 + direction] = its position in that direction's face.
  std::uint32_t boundary_faces(int parity) const { return hops_[0].boundary_faces[parity]; }
  std::uint32_t far_boundary_faces(int parity) const { return hops_[1].boundary_faces[parity]; }
  /// Outer sites of `parity` that this block packs into the face that its neighbour reads in `direction`, in face order.
  TableRange pack(int parity, int direction) const { return pack_[parity][direction]; }

  /// Lanes that a face site carries: all of the block's, or half of them where the direction is split.
  int face_lanes(int direction) const { return lanes_.splits(direction / 2) ? lanes_.lanes / 2 : lanes_.lanes; }
  /// Room for the outer sites of one parity in a face (the two parities can differ by one site).
  int face_sites(int direction) const { return static_cast<int>((reach_ * (volume(shape_.outer) / shape_.outer[direction / 2]) + 1) / 2); }

  /// The tables, for CPU use; and as a read-only handle, for tasks.
  std::span<const std::uint32_t> tables() const { return tables_; }
  const runtime::Handle& handle() const { return handle_; }

 private:
  struct Hop;
  void build_neighbours(int parity, const runtime::Decomposition& decomposition, const BoundaryAngles& boundary);
  void build_packs();
  void upload();

  runtime::Block block_;
  LaneGrid lanes_;
  Coord tile_;
  BlockShape shape_;
  int reach_;
  std::array<bool, 4> cut_{};
  struct HopTables {
    std::uint32_t neighbours[2]{}, boundary_faces[2]{};
  } hops_[2];  ///< over one site, over three
  TableRange interior_[2], boundary_[2], pack_[2][8];
  std::vector<std::uint32_t> tables_;
  runtime::Handle handle_;
};

}  // namespace quarkstar
