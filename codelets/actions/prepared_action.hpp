#pragma once
// An operator in one precision: layout and links, and what a solve for n right-hand sides needs of it.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/stencil/tuning.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar {

/// How the kernels of a solve run; no bit depends on it.
struct Speed {
  int vectors = 1;                             ///< right-hand sides for which the order of sites is chosen
  std::optional<Coord> tile = {};              ///< the order of sites, else it is tuned
  std::optional<stencil::Launch> launch = {};  ///< of kernels, else it is tuned for each number of right-hand sides
  std::optional<int> most_lanes = {};          ///< of sites in the layout, for experiments
  int vectors_in_lanes = 1;                    ///< of the lattice; then solves are for whole groups of so many right-hand sides
  bool measure = true;                         ///< settings that the tune cache does not know; false: the rules
};

/// Submits out = an approximate inverse of A times in, on the solver's own lattice.
using Preconditioner = std::function<void(const Field& out, const Field& in, const runtime::Guard& guard)>;

/// Sources and solutions of an action with a fifth dimension, which have four. All submit tasks.
class PhysicalFields {
 public:
  virtual ~PhysicalFields() = default;
  virtual const LatticePointer& lattice() const = 0;
  /// b = the right-hand side for eta; q = the solution in x.
  virtual void load(const FullField& b, const FullField& eta) = 0;
  virtual void store(const FullField& q, const FullField& x) = 0;
  /// Waits. Sum over space of |q_mp|^2 at each time, q_mp the solution at the midpoint, then that of |q|^2, for each vector.
  virtual std::vector<std::vector<double>> midpoint(const FullField& x) = 0;
};

/// Layout, links, and a hopping operator for every number of vectors that was asked for.
class PreparedAction {
 public:
  virtual ~PreparedAction() = default;

  const LatticePointer& lattice() const { return lattice_; }
  /// The order of sites (BlockShape::set_tile).
  const Coord& tile() const { return tile_; }
  /// The hopping operator for so many vectors, of the solve which has the turn. The first call for a number of them may measure.
  stencil::Stencil& stencil(int vectors);
  /// The even-odd system of the solve which has the turn (runtime/graph/turns.hpp): its faces and sums are its own. mass: the action's
  /// parameter of each vector; parity: on which it is solved, where the action leaves that open.
  virtual std::unique_ptr<EvenOdd> system(int vectors, const PerVector& mass, std::optional<int> parity = {}) = 0;
  /// What the hops of that system usually store on a parity: for benchmarks. The request's Schur complement is the symmetric one.
  virtual stencil::Output usual_output(int /*vectors*/, int /*parity*/) const { return {}; }
  /// Throws Error(input) for a quark mass, or kappa, that makes no sense.
  virtual void check_mass(double mass) const = 0;
  /// Whether its matrices serve this mass; else check_mass() throws.
  virtual bool serves(double /*mass*/) const { return true; }
  /// The mass that came with the action.
  virtual std::optional<double> own_mass() const { return std::nullopt; }
  /// M^+ M of one mass minus that of another, where that is a number: what multi-shift solvers need. M M^+ differs by the same.
  virtual std::optional<double> shift_between(double, double) const { return std::nullopt; }
  /// Where vectors are not of four dimensions: of double precision; else nullptr.
  virtual PhysicalFields* physical() { return nullptr; }
  /// Whether M^+ M leaves the parities apart, the sites of each being a system() of its own.
  virtual bool normal_keeps_parity() const { return false; }
  /// What reports tell of it, by name.
  virtual std::vector<std::pair<std::string, double>> numbers() const { return {}; }
  /// Where the action has one: of its system with the action's own mass, for every mass.
  virtual Preconditioner preconditioner() { return {}; }

  /// Its links, where those of the same action in another precision can be copied from them.
  virtual transfer::WideLinks wide_links() const { return {}; }

  /// Makes what a solve for so many vectors needs; may measure: then nothing else should run. Among other solves in flight it does not.
  void prepare(int vectors) { stencil(vectors); }
  /// Bytes per site of the links, without those of the other precision.
  virtual double link_bytes() const { return subject_.link_bytes; }
  /// Bytes per site that the owners hold besides, from now on.
  void set_resident(double bytes_per_site) { resident_ = bytes_per_site; }

 protected:
  /// The order of sites is that of `tile`, else of speed, else tuned.
  PreparedAction(const runtime::Decomposition& decomposition, stencil::Subject subject, const Speed& speed, double resident);
  /// Another operator on the layout of `other`.
  PreparedAction(const PreparedAction& other, stencil::Subject subject);
  /// The operator on these links.
  virtual std::unique_ptr<stencil::Stencil> make_stencil(int vectors) = 0;

 private:
  stencil::TuningProblem problem() const { return {decomposition_, subject_, speed_.vectors, resident_, {}}; }

  runtime::Decomposition decomposition_;
  stencil::Subject subject_;
  Speed speed_;
  double resident_;
  Coord tile_;
  LatticePointer lattice_;
  std::map<std::pair<int, int>, std::unique_ptr<stencil::Stencil>> stencils_;  ///< by Turns::lane() and number of vectors
  std::map<int, stencil::Launch> launches_;                                    ///< by number of vectors
};

}  // namespace quarkstar
