#pragma once
// Smearing of quark fields on the task graph: of sources, and of solutions before they are contracted.
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/quark_smearing.hpp"
#include "codelets/gauge/host_gauge.hpp"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace quarkstar {

/// The smearings of a run on one configuration. The hops in space of [1 + w Lap] psi are the staggered Dslash's: its driver, faces and
/// kernels, with U_k(x) forward, U_k^+(x - k) backward, and zero in time, where that has phases and a minus sign. A spinor is four colour
/// vectors, and all vectors of a field go together, so that links are read once for up to 32 colour vectors. Double precision.
/// Memory: 1152 bytes per site for each kind of links (thin, and each APE smearing), and while a field is smeared 96 for each colour
/// vector.
class QuarkSmearers {
 public:
  /// Makes the links on the graph, and waits for them. links: at least this rank's part. All ranks call. Needs a running session.
  QuarkSmearers(const runtime::Decomposition& decomposition, const HostGauge& links, std::span<const QuarkSmearing> smearings);

  /// Periodic, in double precision, with lanes of sites: the layout for smeared fields.
  const LatticePointer& lattice() const { return lattice_; }

  /// Vector i of `to` <- vectors[i] of `from`, smeared, on both parities: all vectors of `to`. Both spinors or both colour vectors, in
  /// double precision, on any layout of this decomposition; they may be one field where vectors[i] = i. Submits tasks. Same bits for every
  /// cut, device and number of vectors. Cost: steps x 576 flop per site and colour vector. Throws ShapeError for other fields, and a
  /// smearing that was not announced.
  void smear(const QuarkSmearing& smearing, const FullField& to, const FullField& from, std::span<const int> vectors) const;

 private:
  /// Links of one kind, and the hops along them for so many colour vectors.
  struct Hops {
    double ape;
    int ape_steps;
    staggered::Links even, odd;
    std::map<int, std::unique_ptr<staggered::Dslash>> of_vectors = {};
  };
  Hops& hops_of(const QuarkSmearing& smearing) const;

  LatticePointer lattice_;
  std::vector<std::unique_ptr<Hops>> hops_;
};

}  // namespace quarkstar
