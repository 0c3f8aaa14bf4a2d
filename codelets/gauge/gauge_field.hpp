#pragma once
// Links on the task graph: in blocks, each with a border of its neighbours' links. Smearing, heatbath and observables work on it.
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/boundary.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/handle.hpp"

#include <vector>

namespace quarkstar::gauge {

/// A box of a lattice in blocks, all of this process.
struct Part {
  /// All of the lattice. Throws ShapeError for the decomposition of several ranks.
  Part(const runtime::Decomposition& whole);  // NOLINT(google-explicit-constructor): what decompositions mean
  Part(const runtime::Decomposition& of_box, const Coord& whole, const Box& sites) : blocks(of_box), lattice(whole), box(sites) {}

  runtime::Decomposition blocks;  ///< of the box, whose origin it does not know
  Coord lattice{};
  Box box;
};

/// U_mu(x) in double precision, one handle per block, and a border of `depth` sites around each block in every direction, also in those
/// that are not cut, where it repeats the block's other side. Tasks read and write handles; whoever writes links calls exchange_border()
/// before others read the border. A box that is not all of a direction takes its own other side for what is behind its edge: its outer
/// layers have wrong neighbours. Needs a running session. Memory: 576 bytes per site, border included.
class GaugeField {
 public:
  /// Throws Error(input) where a block is thinner than the border.
  GaugeField(const Part& part, int depth);

  const Part& part() const { return part_; }
  const std::vector<runtime::Block>& blocks() const { return part_.blocks.blocks(); }
  int depth() const { return depth_; }
  LinkShape shape(const runtime::Block& block) const { return {block.extents, depth_}; }
  const runtime::Handle& handle(const runtime::Block& block) const { return handles_[static_cast<std::size_t>(block.index)]; }
  /// Coordinates in the lattice of a block's first site; they may be beyond its edge.
  Coord origin(const runtime::Block& block) const;

 private:
  Part part_;
  int depth_;
  std::vector<runtime::Handle> handles_;
};

// The following submit tasks and return. Sites inside the border are meant unless it is mentioned.

/// links <- host, multiplied by the boundary phase e^{i pi theta_mu} at x_mu = L_mu - 1 of the lattice. host holds the part's box, or more
/// of the lattice, and must outlive the tasks. Throws ShapeError when it does not hold it.
void load(const GaugeField& links, const HostGauge& host, const BoundaryAngles& boundary = periodic);

struct StoreOptions {
  double scale = 1;
  const GaugeField* extra = nullptr;
  double extra_scale = 0;
  bool staggered_phases = false;  ///< eta_mu(x) of docs/conventions.md 4
};
/// host <- eta_mu(x) (scale links + extra_scale extra). host is a box within the part's, of which only it is stored, and must outlive the
/// tasks; wait for the session before reading it. Throws ShapeError where it is not within.
void store(HostGauge& host, const GaugeField& links, const StoreOptions& options = {});

/// Fills the border with the links U_mu, first <= mu < last: direction after direction, x first, each with the border of those before it,
/// so that the corners come along. A cut direction sends its faces as handles of their own, one writer and one reader each; others are
/// copied within the block. CPU and GPU.
void exchange_border(const GaugeField& links, int first = 0, int last = 4);

}  // namespace quarkstar::gauge
