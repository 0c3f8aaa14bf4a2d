#pragma once
// Solves M x = b for several right-hand sides together through the even-odd system, on the task graph.
#include "codelets/actions/action.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/lattice/lattice.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar {

class Field;
struct FullField;
class EvenOdd;
class Projector;

/// Submits tasks that write right-hand sides, one for each of the field's vectors, on its parity: odd ones right behind even ones, or one
/// parity alone and later the other (masses that share a Krylov space).
using LoadSources = std::function<void(const Field& field)>;
/// Submits tasks that read vectors on the sites of the field's parity.
using UseVectors = std::function<void(const Field& field)>;
/// Told of all solutions of a solve while they are on the graph, in double precision, so that tasks may read them where they are.
using UseSolutions = std::function<void(const FullField& solutions, std::span<const SolveResult> results)>;

/// What one solve asks for that the settings do not say.
struct SolveRequest {
  /// Of each right-hand side; empty: the settings'. 0, with `multishift` from zero: as far as the Krylov space of the others brings it.
  std::span<const double> tolerances = {};
  std::optional<int> parity = {};  ///< of the even-odd system; none: the action's choice, which may be the only one
  /// Submits tasks that write the initial guesses, in place of those that the solutions are: on all ranks or on none. Not with a fifth
  /// dimension.
  LoadSources guess = {};
  /// What a solve of the same right-hand sides, with the same settings, had come to, in place of guesses but for its solutions where it has
  /// no fields. Not with settings.recycle, whose modes nobody keeps.
  const SolveState* resume = nullptr;
  /// With a fifth dimension, whose solution does not follow from that of four: on entry guesses on all slices, [s n + v], at the end what
  /// has come of them, in this rank's part. Empty: the solve begins at zero, and takes no snapshots.
  std::span<HostField> slices = {};
};

/// Holds the links on the workers that own them; then solves for any number of sources. Needs a running runtime::Session.
class Solver {
 public:
  /// Copies the action's links into the blocks of `decomposition`. settings.solver: one of solver_names(action.is_hermitian()). Throws
  /// Error(input) for what cannot be: an unknown solver name or link format, links that are not SU(3) and should become 12 or 8 reals, a
  /// preconditioner that does not fit solver, cut or devices. With settings.multigrid sets that up for the action's own mass, and throws
  /// Error(numerical) where that fails. ShapeError when the links have other extents than the decomposition, and for
  /// vectors in lanes where most_vectors_in_lanes() knows no kernels. speed: for benchmarks, and how many right-hand sides are to come
  /// together, and in lanes; with settings.tune what it leaves open is measured, unless it gives a tile or a launch.
  Solver(const runtime::Decomposition& decomposition, const Action& action, const SolverSettings& settings, const Speed& speed = {});
  ~Solver();

  /// PreparedAction::numbers() of the operator in double precision; with multigrid also its contraction (Multigrid::Verification).
  std::vector<std::pair<std::string, double>> numbers() const;

  /// Of the multigrid that preconditions it; none without one.
  std::vector<MultigridLevel> multigrid_levels() const;

  /// Whether solve() takes this mass for another than the action's own: clover's term is made for one.
  bool solves_for(double mass) const;

  /// The layout of its fields in double precision.
  const LatticePointer& lattice() const;
  /// From now on a projector made for that lattice serves solves, where it is of the parity that they solve on: each correction begins with
  /// what it knows, and so does the Krylov space that masses share. mass: of its operator; Error(input) comes from solve() where that
  /// serves no other. Error(input) for `blockcg` in half precision, and with settings.recycle. ShapeError with vectors in lanes.
  void set_projector(std::shared_ptr<const Projector> projector, double mass);

  /// The even-odd system in double precision, on its own parity, of this mass, for so many vectors: that of which projectors know modes.
  /// The solver outlives it. Throws as solve() does.
  std::unique_ptr<EvenOdd> system(int vectors, double mass);

  /// Makes what a solve for so many vectors needs, measurements of speed settings among it; solve() does so too.
  void prepare(int vectors);

  /// Solves M(masses[v]) solutions[v] = sources[v] for all v at once, each to the settings' tolerance. 1 to 32 of them; on entry the
  /// solutions are the initial guesses. The bits of each are those of a solve of its own, but with two solvers: with `blockcg` the
  /// right-hand sides share a Krylov space and one mass; with `multishift`, for one source and many masses, all share a Krylov space where
  /// the guesses are zero, before `cg` refines each (other guesses are refined at once). With settings.recycle solves begin with what those
  /// before them have gathered, so that bits depend on the solves before and on which are solved together; they must come one after the
  /// other, and right-hand sides of a solve are of one mass where the even-odd system is not hermitian. There a solve for another mass
  /// drops what was gathered and begins anew: masses that alternate want a solver each. Solves on the other parity than that of the first
  /// one neither gather nor use anything. Never throws for a numerical failure: each result's reason tells, and the solution then holds the
  /// last iterate. Throws ShapeError where numbers of sources, masses and solutions differ, or the boxes of sources or of solutions among
  /// themselves; Error(input) for a mass that makes no sense. Under MPI sources and solutions are this rank's part (or whole), and all
  /// ranks solve together. Programs of runtime::Turns may solve at the same time, each with the bits of its solve alone;
  /// SolveResult::seconds is then time in flight. snapshots: while masses share a Krylov space, which can only begin from zero, none are
  /// taken, and a solve that is interrupted then ends with the guess; with a fifth dimension they are of all slices, as request.slices.
  /// use: called at the end, before the solutions are copied to the host. With sources on the sites of request.parity alone, solutions
  /// there are those of its even-odd system (docs/conventions.md, section 3; staggered: 2m times), and true residuals are of it too.
  std::vector<SolveResult> solve(std::span<const HostField> sources, std::span<const double> masses, std::span<HostField> solutions,
                                 const Progress& progress = {}, const Snapshots& snapshots = {}, const UseSolutions& use = {},
                                 const SolveRequest& request = {});
  /// The same for right-hand sides that tasks write: with `multishift` all of one source. No solutions: they begin at zero, snapshots are
  /// not taken, and what comes of them is for `use` to see.
  std::vector<SolveResult> solve(const LoadSources& load, std::span<const double> masses, std::span<HostField> solutions,
                                 const Progress& progress = {}, const Snapshots& snapshots = {}, const UseSolutions& use = {},
                                 const SolveRequest& request = {});
  /// Of one right-hand side, with the action's own mass where none is given. Throws ShapeError where the action has none.
  SolveResult solve(const HostField& source, HostField& solution, const Progress& progress = {}, const Snapshots& snapshots = {});
  SolveResult solve(const HostField& source, double mass, HostField& solution, const Progress& progress = {},
                    const Snapshots& snapshots = {}) {
    return solve({&source, 1}, {&mass, 1}, {&solution, 1}, progress, snapshots).front();
  }

  /// Solves (Mh^+ Mh + shift_v) x_v = b for all shifts, at least 0, from one Krylov space, Mh the operator of the even-odd system on the
  /// odd sites, whose masses no shift is: what rational functions of Mh^+ Mh are sums of. Then conjugate gradients refine each to its
  /// tolerance of |b - (Mh^+ Mh + shift_v) x_v| / |b|, which is recomputed in double precision. load: of b, called for a field of one
  /// vector and for one with b in each vector, before any use. use: of x, on the odd sites. Throws Error(input) for hermitian systems
  /// (`multishift` serves those), with settings.recycle, and for shifts that are negative; ShapeError where numbers of shifts and
  /// tolerances differ, or are more than solve() takes.
  std::vector<SolveResult> solve_normal(const LoadSources& load, double mass, std::span<const double> shifts,
                                        std::span<const double> tolerances, const UseVectors& use);

  /// images[v] = M(masses[v]) vectors[v], or M^+, in double precision on the whole lattice; with a fifth dimension [s n + v] for slice s.
  /// Throws as solve() does.
  void apply(std::span<const HostField> vectors, std::span<const double> masses, std::span<HostField> images, bool adjoint = false);
  /// The same of vectors that tasks write, with images that tasks read: `load` and `use` are called for each parity, and may wait for their
  /// tasks. All loads come before any use, so that vectors and images may be the same memory where they do.
  void apply(const LoadSources& load, std::span<const double> masses, const UseVectors& use, bool adjoint = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quarkstar
