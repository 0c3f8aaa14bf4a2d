#pragma once
// What operators with faces share: how large faces are, in which order the tasks of an application go, which faces a boundary reads.
#include "codelets/lattice/lattice.hpp"
#include "runtime/cut/halo.hpp"
#include "runtime/graph/codelet.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar {

/// Faces with so many bytes of each site. what: as of runtime::Halo.
inline runtime::Halo make_faces(const Lattice& lattice, std::size_t bytes_per_site, const char* what) {
  const auto bytes = [&](int b, int d) -> std::size_t {
    const BlockGeometry& block = lattice.block(b);
    if (!block.is_cut(d / 2)) return 0;
    return static_cast<std::size_t>(block.face_sites(d)) * static_cast<std::size_t>(block.face_lanes(d)) * bytes_per_site;
  };
  return {lattice.decomposition(), bytes, what};
}

/// Tasks that compute the sites of one block: interior and boundary, or all at once where nothing is cut.
inline int parts_of(const Lattice& lattice) { return lattice.block(lattice.local_blocks().front()).has_faces() ? 2 : 1; }

/// One application: pack(block) of every block with faces, the exchange, then sites(block, boundary): all interiors, all boundaries.
template <class Pack, class Sites>
void submit_with_faces(const Lattice& lattice, runtime::Halo& faces, Pack&& pack, Sites&& sites) {
  faces.next();
  for (const int b : lattice.local_blocks())
    if (lattice.block(b).has_faces()) pack(b);
  faces.exchange();
  for (const int b : lattice.local_blocks()) sites(b, false);
  for (const int b : lattice.local_blocks())
    if (lattice.block(b).has_faces()) sites(b, true);
}

/// Adds the faces that the boundary of a block reads. buffer[direction] becomes the face's number among them; where nothing is cut it
/// stays.
inline void read_faces(const BlockGeometry& block, const runtime::Halo& faces, std::int8_t (&buffer)[8], runtime::AccessList& accesses) {
  std::int8_t next = 0;
  for (int d = 0; d < 8; ++d) {
    if (!block.is_cut(d / 2)) continue;
    buffer[d] = next++;
    accesses.push_back(runtime::in(faces.incoming(block.block().index, d)));
  }
}

}  // namespace quarkstar
