#pragma once
// The steps of link construction on blocks, each one task per block.
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/coefficients.hpp"

namespace quarkstar::smear {

using gauge::GaugeField;

// All submit tasks with CPU and CUDA implementations of the same bits, and return. They work on the sites inside the
// border; `in` needs a border, filled, of the depth stated. Throw ShapeError for other decompositions or too thin a
// border.

/// out = the sum of the weighted paths around each link of in: 1 + 6 + 24 + 48 + 6 paths. Border 2, or 1 without
/// Lepage's term. 132 kflop per site, 145 with Lepage's term: the paths are nested so that they share outer links, but
/// every site computes its own.
void smear_links(const GaugeField& out, const GaugeField& in, const PathWeights& weights);

/// out = weight U_mu(x) U_mu(x+mu) U_mu(x+2mu), U = in. Border 2. 1.7 kflop per site.
void naik_links(const GaugeField& out, const GaugeField& in, double weight);

/// out: in space U' = Proj[(1 - alpha) U + alpha / 4 A], A = the sum of the four spatial staples of U, from x to x + mu, Proj = the SU(3)
/// matrix with the largest trace (codelets/su3/maximal_trace.hpp); in time U. Border 1 in x, y and z; 12 to 25 kflop per link of space.
/// Source: M. Albanese et al., Phys. Lett. B 192 (1987) 163.
void ape_links(const GaugeField& out, const GaugeField& in, double alpha);

/// U <- U (U^+ U)^(-1/2) in place, see codelets/su3/unitarize.hpp. About 4 kflop per site.
void unitarize_links(const GaugeField& links);

}  // namespace quarkstar::smear
