#pragma once
// Where links are smeared: on the whole lattice, or on what one of several ranks needs of it.
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/session.hpp"

namespace quarkstar::smear {

/// Layers of sites around a part of the lattice.
struct Border {
  int before = 0, behind = 0;
};

/// Thin links on which the kept links of a part (Region) depend: its own, and those of hops into it, which begin up to
/// three sites before it. Each step of smearing reaches so far: fat7 one site, asqtad's paths and the product of three
/// links two. One layer behind a part is there in any case, for its plaquettes.
inline constexpr Border naive_border{1, 1}, asqtad_border{3, 2}, hisq_border{4, 3};

/// The box of a Region: the part with that border, and where an extent is odd another layer, since blocks want even
/// ones.
Box thin_links_box(const Box& part, const Coord& lattice, const Border& border);

/// Sites with links of one hop, or three, that touch a part: hops into it begin before it.
inline Box hops_box(const Box& part, const Coord& lattice, int reach) { return with_border(part, lattice, reach, 0); }

/// A box of the lattice in blocks, all of this process, and the sites whose links are kept.
///
/// No messages: what neighbours need of each other's links, each computes itself. The box is smeared as if it were a
/// lattice of its own, so its outer layers, whose neighbours are missing, get links of no lattice; the border is so
/// thick that none of them reaches a link that is kept. Kept links have the bits that they have on the whole lattice,
/// because a link is a function of the links around it and of its global coordinates. In a direction where the box is
/// all of the lattice it is periodic as the lattice is.
///
/// What it costs, instead of messages: links of (e + 8)^d sites for e^d, HISQ, with d directions cut into parts of e
/// sites.
struct Region : gauge::Part {
  /// All of the lattice, all kept. Throws ShapeError for the decomposition of several ranks.
  Region(const runtime::Decomposition& whole);  // NOLINT(google-explicit-constructor): what decompositions mean
  /// thin_links_box() in a grid of blocks for so many workers (as Decomposition); kept are the hops_box()es of `part`.
  Region(const Coord& lattice, const Box& part, const Border& border, const Coord& grid, int workers);

  Box fat, far;          ///< sites whose links of one and of three hops are kept
  bool is_part = false;  ///< other ranks have others
};

/// Where the links of a solve are made: on its own blocks; under MPI every rank makes those of its part, with a border, on its session's
/// owners. The cut changes no bit of them.
Region region_for(const runtime::Session& session, const runtime::Decomposition& decomposition, const Border& border);

}  // namespace quarkstar::smear
