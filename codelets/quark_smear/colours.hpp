#pragma once
// Spinors as colour vectors, and links for hops of colour vectors in some directions, on the task graph.
#include "codelets/actions/staggered/links.hpp"
#include "codelets/field/field.hpp"
#include "codelets/gauge/gauge_field.hpp"

#include <span>

namespace quarkstar::quark_smear {

// Both fields in double precision and of one decomposition; the colour vectors' lattice has lanes of sites.

/// Colour vector first + spins i + s of `colours` <- spin s of vectors[i] of `from` (spinors, or colour vectors: one spin). Where first is
/// not 0 others stay as they are, else what is not written is undefined.
void spread(const FullField& colours, const FullField& from, std::span<const int> vectors, int first = 0);
/// And back: vectors[i] of `to` <- the i-th `spins` colour vectors. keeps: whether others of `to` stay as they are.
void gather(const FullField& to, const FullField& colours, std::span<const int> vectors, bool keeps);

/// Bit of the hop from x + mu to x among the directions of write_links().
constexpr unsigned forward(int mu) { return 1u << (2 * mu); }
/// even, odd <- factor U_k(x) for the hops forward and factor U_k^+(x - k) for those backward among `directions`, zero for others. links:
/// of the same decomposition, with a border in the directions that have hops backward.
void write_links(const staggered::Links& even, const staggered::Links& odd, const gauge::GaugeField& links, unsigned directions,
                 double factor = 1);

}  // namespace quarkstar::quark_smear
