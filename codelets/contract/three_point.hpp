#pragma once
// Three-point functions on the task graph: currents between a propagator and a sequential one.
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/contract/contraction.hpp"
#include "codelets/contract/sequential.hpp"
#include "codelets/gauge/gauge_field.hpp"

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar::contract {

/// The links of the hops in an operator M that has the conserved current: M psi(x) = ... - sum_mu factors[mu] [(1 - g_mu) U_mu(x) psi(x +
/// mu)
/// + (1 + g_mu) U_mu^+(x - mu) psi(x - mu)].
struct HopLinks {
  const HostGauge& gauge;  ///< at least this rank's part
  BoundaryAngles boundary;
  std::array<double, 4> factors;
};

/// The three-point functions of one propagator S and the sequential propagators G of one hadron sink,
///   C3(q, t) = sum_y exp(i q.(y - x0)) c(y, t), c of the families of currents.hpp, summed over columns,
/// t counted from the source. Columns come in any order and number. For the conserved current both are hopped by the staggered Dslash's
/// driver and kernels, with the links of one direction forward. Memory: of local currents 384 bytes per site, of conserved ones 1536 and
/// links of 1728 (columns follow each other through the same fields); of each column its sums, as three_point_sums() has them. Same bits
/// for every cut, device, layout, and number of columns that come together.
class ThreePoint {
 public:
  /// links: nullptr where no conserved current is among the currents; else its gauge field outlives the tasks. Under MPI all ranks call.
  ThreePoint(const runtime::Decomposition& decomposition, const std::vector<Choice>& currents, const std::vector<Momentum>& momenta,
             const Source& source, const HopLinks* links);
  ~ThreePoint();

  /// Submits tasks for some columns: vector forward[i] of S and vector backward[i] of G belong together. Spinors in double precision on
  /// lattices of this decomposition, with lanes of sites or of vectors. Cost for a column: 24 hops of colour vectors over one link per
  /// site, and the currents. Throws ShapeError for other fields.
  void add(const FullField& s, std::span<const int> forward, const FullField& g, std::span<const int> backward);

  /// Waits for the tasks, and adds over ranks, which must all call. "pion_3pt_dt8_vector_t", with a momentum p of the sink
  /// "pion_3pt_dt8_vector_t_p1,0,0", with a momentum q of the current "_q0,0,1" behind it. No effective masses.
  std::vector<Correlator> correlators(const HadronSink& sink) const;

 private:
  struct Hops;
  struct Part {
    Choice choice;
    int direction;  ///< of a conserved current; -1: local ones
    Contraction contraction;
  };
  LatticePointer lattice_;
  std::vector<Momentum> momenta_;
  std::vector<Part> parts_;
  FullField column_;            ///< of S and of G
  std::unique_ptr<Hops> hops_;  ///< where a conserved current is wanted
};

/// Whether a conserved current is among them.
bool has_conserved(const std::vector<Choice>& currents);
/// Bytes per site that a ThreePoint takes.
double three_point_bytes(const std::vector<Choice>& currents);
/// Bytes of the sums that it keeps of all columns, for each time slice of a block.
double three_point_sums(const std::vector<Choice>& currents, std::size_t momenta);

/// Time slices from the source to the sink of a three-point function, as its name tells. Throws ShapeError for other names.
int separation_of(std::string_view correlator);

}  // namespace quarkstar::contract
