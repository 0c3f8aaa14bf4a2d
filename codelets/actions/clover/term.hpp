#pragma once
// The clover term of a configuration.
#include "codelets/actions/clover/plane_weights.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "runtime/cut/decomposition.hpp"

#include <memory>

namespace quarkstar::clover {

/// Submits out = C (clover_site.hpp) on all sites inside the border, in the places of four links. links: with a filled border of one site
/// or more. CPU and GPU, one task per block. Cost: 15 kflop per site; bytes: links once, 72 reals. Throws ShapeError where the two have
/// other blocks or the border is missing. Source: docs/conventions.md, section 2.
void submit_term(const gauge::GaugeField& out, const gauge::GaugeField& links, const PlaneWeights& weights = {});

/// C = sum_{mu<nu} sigma_munu F_munu on the sites of this rank's part, each plane with its weight; kappa and the coefficient apart.
struct HostTerm {
  HostGauge reals;  ///< of a site the 72 of its two blocks, in the places of four links
  double norm;      ///< no eigenvalue of C anywhere on the lattice is larger in magnitude
};

/// Makes it on the decomposition's blocks and waits. gauge: this rank's part, or more; the fermions' boundary has no part in it.
/// Collective. Throws ShapeError where `gauge` does not hold that.
std::shared_ptr<const HostTerm> make_term(const runtime::Decomposition& decomposition, const HostGauge& gauge,
                                          const PlaneWeights& weights = {});

}  // namespace quarkstar::clover
