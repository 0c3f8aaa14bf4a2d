#include "codelets/lattice/block_geometry.hpp"

#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <string>

namespace quarkstar {

namespace {

BlockShape shape_of(const runtime::Block& block, const LaneGrid& lanes, const Coord& tile) {
  BlockShape shape;
  shape.lanes = lanes.lanes;
  shape.stride = lanes.stride;
  shape.origin_parity = parity_of(block.origin);
  for (int mu = 0; mu < 4; ++mu) shape.outer[mu] = block.extents[mu] / (lanes.splits(mu) ? 2 : 1);
  shape.set_tile(tile);
  return shape;
}

/// Outer sites of `parity` in the first (a reader that looks forward meets the lower edge) or last `reach` layers, in face order.
std::vector<std::uint32_t> face_list(const BlockShape& shape, int parity, int direction, int reach) {
  const int mu = direction / 2;
  std::vector<std::uint32_t> list;
  for (int index = 0; index < shape.outer_sites(); ++index) {
    const int position = shape.outer_coordinates(parity, index)[mu];
    if (direction % 2 == 0 ? position < reach : position >= shape.outer[mu] - reach) list.push_back(static_cast<std::uint32_t>(index));
  }
  return list;
}

}  // namespace

void require_thick_blocks(const runtime::Decomposition& decomposition, int reach) {
  for (int mu = 0; mu < 4; ++mu) {
    const auto thinner = [mu](const runtime::Block& a, const runtime::Block& b) { return a.extents[mu] < b.extents[mu]; };
    const int thinnest = std::min_element(decomposition.blocks().begin(), decomposition.blocks().end(), thinner)->extents[mu];
    if (decomposition.is_cut(mu) && thinnest < reach)
      throw Error(ErrorKind::input, Parameter(decomposition.ranks()[mu] > 1 ? "ranks" : "blocks"),
                  "a block has extent " + std::to_string(thinnest) + " in direction " + "xyzt"[mu] + ", less than the " +
                      std::to_string(reach) + " sites of a hop",
                  "cut that direction into fewer blocks");
  }
}

BlockGeometry::BlockGeometry(const runtime::Decomposition& decomposition, int block, const LaneGrid& lanes, const BoundaryAngles& boundary,
                             int reach, const Coord& tile)
    : block_(decomposition.block(block)), lanes_(lanes), tile_(tile), shape_(shape_of(block_, lanes, tile)), reach_(reach) {
  for (int mu = 0; mu < 4; ++mu) {
    cut_[mu] = decomposition.is_cut(mu);
    if (lanes.splits(mu) && block_.extents[mu] % 4 != 0)
      throw ShapeError("BlockGeometry", "a direction whose extent is no multiple of 4 is split over lanes");
    if (lanes.splits(mu) && shape_.outer[mu] < reach) throw ShapeError("BlockGeometry", "half a block is thinner than a hop is long");
  }
  require_thick_blocks(decomposition, reach);
  if (shape_.outer[0] % 2 != 0) throw ShapeError("BlockGeometry", "the outer x extent is odd");
  // Tables hold 32-bit offsets, up to 60 words per outer site, and entries with 3 flag bits.
  constexpr std::int64_t most_outer_sites = std::int64_t{1} << 26;
  if (volume(shape_.outer) / 2 > most_outer_sites)
    throw Error(ErrorKind::input, Parameter("blocks"), "a block has more sites than its tables can number",
                "cut the lattice into more blocks");
  build_packs();
  for (int parity = 0; parity < 2; ++parity) build_neighbours(parity, decomposition, boundary);
  upload();
}

void BlockGeometry::build_packs() {
  for (int parity = 0; parity < 2; ++parity)
    for (int direction = 0; direction < 8; ++direction) {
      TableRange& range = pack_[parity][direction];
      range.offset = static_cast<std::uint32_t>(tables_.size());
      if (!cut_[direction / 2]) continue;
      const std::vector<std::uint32_t> list = face_list(shape_, parity, direction, reach_);
      tables_.insert(tables_.end(), list.begin(), list.end());
      range.count = static_cast<std::uint32_t>(list.size());
    }
}

/// One hop from one outer site.
struct BlockGeometry::Hop {
  std::uint32_t entry = 0;
  Coord target{};  ///< outer coordinates, in the next block where the entry is on a face
};

void BlockGeometry::build_neighbours(int parity, const runtime::Decomposition& decomposition, const BoundaryAngles& boundary) {
  const auto hop = [&](const Coord& here, int direction, int distance, const BlockShape& next) {
    const int mu = direction / 2, extent = shape_.outer[mu];
    const bool forward = direction % 2 == 0;
    Hop result;
    const int position = here[mu] + (forward ? distance : -distance);
    Coord inside = here;
    inside[mu] = ((position % extent) + extent) % extent;
    result.target = inside;
    result.entry = static_cast<std::uint32_t>(shape_.outer_index(inside)) << neighbour_entry::shift;
    if (position < 0 || position >= extent) {
      if (lanes_.splits(mu)) result.entry |= neighbour_entry::exchange;
      const int last = decomposition.grid()[mu] - 1;
      if (boundary[mu] != 0 && block_.position[mu] == (forward ? last : 0)) result.entry |= neighbour_entry::phase;
      if (cut_[mu]) {
        result.entry |= neighbour_entry::face;
        result.target[mu] = forward ? position - extent : position + next.outer[mu];
      }
    }
    return result;
  };
  // Where each outer site of a neighbouring block stands in the face that it sends here.
  std::array<BlockShape, 8> next;
  std::array<std::vector<std::uint32_t>, 8> position;
  for (int d = 0; d < 8; ++d) {
    if (!cut_[d / 2]) continue;
    const auto direction = static_cast<std::size_t>(d);
    next[direction] = shape_of(decomposition.block(decomposition.neighbour(block_.index, d)), lanes_, tile_);
    const std::vector<std::uint32_t> list = face_list(next[direction], 1 - parity, d, reach_);
    position[direction].resize(static_cast<std::size_t>(next[direction].outer_sites()));
    for (std::size_t i = 0; i < list.size(); ++i) position[direction][list[i]] = static_cast<std::uint32_t>(i);
  }

  const int kinds = reach_ == 1 ? 1 : 2;
  std::vector<std::uint32_t> entries[2], edge_faces[2], inside, edge_sites;
  for (int kind = 0; kind < kinds; ++kind) entries[kind].resize(8 * static_cast<std::size_t>(outer_sites()));
  const auto hop_of = [&](const Coord& here, int kind, int d) {
    return hop(here, d, kind == 0 ? 1 : 3, next[static_cast<std::size_t>(d)]);
  };
  constexpr int few = 4096;  // several threads would take longer to begin
  const bool alone = !runtime::backend::computes || outer_sites() < few;
  const runtime::Team team = alone ? runtime::Team({0}) : runtime::Session::current().cpu_team();
  team.for_range(outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t index = begin; index < end; ++index) {
      const Coord here = shape_.outer_coordinates(parity, static_cast<int>(index));
      for (int kind = 0; kind < kinds; ++kind)
        for (int d = 0; d < 8; ++d) entries[kind][static_cast<std::size_t>(8 * index + d)] = hop_of(here, kind, d).entry;
    }
  });
  for (int index = 0; index < outer_sites(); ++index) {
    std::uint32_t faces[2][8]{};
    bool on_edge = false;
    for (int kind = 0; kind < kinds; ++kind)
      for (int d = 0; d < 8; ++d) {
        if ((entries[kind][8 * static_cast<std::size_t>(index) + static_cast<std::size_t>(d)] & neighbour_entry::face) == 0) continue;
        on_edge = true;
        const auto direction = static_cast<std::size_t>(d);
        const Hop result = hop_of(shape_.outer_coordinates(parity, index), kind, d);
        faces[kind][d] = position[direction][static_cast<std::size_t>(next[direction].outer_index(result.target))];
      }
    if (on_edge) {
      edge_sites.push_back(static_cast<std::uint32_t>(index));
      for (int kind = 0; kind < kinds; ++kind) edge_faces[kind].insert(edge_faces[kind].end(), faces[kind], faces[kind] + 8);
    } else {
      inside.push_back(static_cast<std::uint32_t>(index));
    }
  }
  const auto append = [this](const std::vector<std::uint32_t>& part) {
    const auto offset = static_cast<std::uint32_t>(tables_.size());
    tables_.insert(tables_.end(), part.begin(), part.end());
    return TableRange{offset, static_cast<std::uint32_t>(part.size())};
  };
  interior_[parity] = append(inside);
  if (!inside.empty() && inside.back() - inside.front() + 1 == inside.size())
    interior_[parity].first = static_cast<std::int32_t>(inside.front());
  boundary_[parity] = append(edge_sites);
  for (int kind = 0; kind < kinds; ++kind) {
    tables_.resize((tables_.size() + 3) / 4 * 4);  // GPUs copy entries 16 bytes at a time
    hops_[kind].neighbours[parity] = append(entries[kind]).offset;
    hops_[kind].boundary_faces[parity] = append(edge_faces[kind]).offset;
  }
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
