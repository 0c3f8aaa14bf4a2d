#include "codelets/lattice/boxes.hpp"

#include <algorithm>

namespace quarkstar {
namespace {

/// Coordinates [begin, end) along one direction, inside the lattice.
struct Range {
  int begin, end;
};

void append_folded(std::vector<Box>& pieces, const Box& box, const Coord& lattice) {
  std::array<std::vector<Range>, 4> ranges;
  Coord counts{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const int end = box.origin[mu] + box.extents[mu];
    ranges[mu].push_back({box.origin[mu], std::min(end, lattice[mu])});
    if (end > lattice[mu]) ranges[mu].push_back({0, end - lattice[mu]});
    counts[mu] = static_cast<int>(ranges[mu].size());
  }
  for (std::int64_t i = 0; i < volume(counts); ++i) {
    const Coord place = coordinates(i, counts);
    Box piece;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const Range& range = ranges[mu][static_cast<std::size_t>(place[mu])];
      piece.origin[mu] = range.begin;
      piece.extents[mu] = range.end - range.begin;
    }
    pieces.push_back(piece);
  }
}

}  // namespace

Box with_border(const Box& part, const Coord& lattice, int before, int behind) {
  Box box = part;
  for (int mu = 0; mu < 4; ++mu) {
    if (part.extents[mu] == lattice[mu]) continue;
    box.extents[mu] = std::min(part.extents[mu] + before + behind, lattice[mu]);
    box.origin[mu] = box.extents[mu] == lattice[mu] ? 0 : (part.origin[mu] - before + lattice[mu]) % lattice[mu];
  }
  return box;
}

std::vector<Box> border_of(const Box& box, const Box& part, const Coord& lattice) {
  std::vector<Box> pieces;
  // Before and behind the part along mu: as wide as the box in the directions before mu, as the part in those after it.
  Box piece = part;
  for (int mu = 0; mu < 4; ++mu) {
    // Where the box is all of the direction, all that is missing comes behind the part, over the edge.
    const int before = box.extents[mu] == lattice[mu] ? 0 : (part.origin[mu] - box.origin[mu] + lattice[mu]) % lattice[mu];
    const int behind = box.extents[mu] - before - part.extents[mu];
    piece.origin[mu] = box.origin[mu];
    piece.extents[mu] = before;
    if (before > 0) pieces.push_back(piece);
    piece.origin[mu] = (part.origin[mu] + part.extents[mu]) % lattice[mu];
    piece.extents[mu] = behind;
    if (behind > 0) pieces.push_back(piece);
    piece.origin[mu] = box.origin[mu];
    piece.extents[mu] = box.extents[mu];
  }
  return pieces;
}

std::vector<Box> folded(std::span<const Box> boxes, const Coord& lattice) {
  std::vector<Box> pieces;
  for (const Box& box : boxes) append_folded(pieces, box, lattice);
  return pieces;
}

}  // namespace quarkstar
