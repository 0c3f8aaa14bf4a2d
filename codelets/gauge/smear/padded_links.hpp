#pragma once
// A gauge field in blocks, each with a border of its neighbours' links: the form in which links are smeared.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/smear/padded_shape.hpp"
#include "codelets/gauge/smear/region.hpp"
#include "codelets/lattice/boundary.hpp"
#include "runtime/graph/handle.hpp"

#include <vector>

namespace quarkstar::smear {

/// One handle a block. Needs a running session. Memory: 576 bytes a site, border included.
class PaddedLinks {
 public:
  /// depth: border in every direction, also in those that are not cut (there it repeats the block's other side).
  /// Throws Error(input) where a block of a cut direction, or the lattice, is thinner than that.
  PaddedLinks(const Region& region, int depth);

  const Region& region() const { return region_; }
  const runtime::Decomposition& decomposition() const { return region_.blocks; }
  int depth() const { return depth_; }
  PaddedShape shape(int block) const { return {decomposition().block(block).extents, depth_}; }
  const runtime::Handle& block(int index) const { return blocks_[static_cast<std::size_t>(index)]; }

 private:
  Region region_;
  int depth_;
  std::vector<runtime::Handle> blocks_;
};

// The following submit tasks and return. Sites inside the border are meant unless it is mentioned.

/// links <- gauge, multiplied by the boundary phase e^{i pi theta_mu} at x_mu = L_mu - 1 of the lattice. gauge holds
/// the region's box, or more of the lattice, and must outlive the tasks. Throws ShapeError when it does not.
void load(const PaddedLinks& links, const HostGauge& gauge, const BoundaryAngles& boundary);

/// Fills the border: direction after direction, x first, each with the border of those before it, so that the corners
/// come along. A cut direction sends its faces as handles of their own, one writer and one reader each; others are
/// copied within the block.
void exchange_border(const PaddedLinks& links);

/// gauge <- eta_mu(x) (scale links + extra_scale extra), eta: the staggered phases of docs/conventions.md 4. extra may
/// be nullptr. gauge is a box within the region's, of which only it is stored, and must outlive the tasks; wait for the
/// session before reading it.
void store_with_phases(HostGauge& gauge, const PaddedLinks& links, double scale, const PaddedLinks* extra, double extra_scale);

}  // namespace quarkstar::smear
