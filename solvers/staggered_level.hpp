#pragma once
// The staggered operator in one precision, and steps on fields of both parities.
#include "codelets/actions/staggered/colour_transfer.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/actions/staggered/tuning.hpp"
#include "solvers/even_odd_staggered.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace quarkstar {

/// Both parities of n colour vectors on the whole lattice.
struct ColourFields {
  staggered::ColourField even, odd;
  ColourFields(const LatticePointer& lattice, int vectors) : even(lattice, 0, vectors), odd(lattice, 1, vectors) {}
  const staggered::ColourField& of(int parity) const { return parity == 0 ? even : odd; }
};

/// How the kernels of a staggered solve run; no bit depends on it.
struct StaggeredSpeed {
  int vectors = 1;                               ///< right-hand sides for which the order of sites is chosen
  std::optional<Coord> tile = {};                ///< the order of sites, else it is tuned
  std::optional<staggered::Launch> launch = {};  ///< of kernels, else it is tuned for each number of right-hand sides
  int vectors_in_lanes = 1;                      ///< of the lattice; then solves are for whole groups of so many right-hand sides
};

/// Layout, links, and a Dslash for every number of vectors that was asked for.
class StaggeredLevel {
 public:
  /// measure: speed settings that the tune cache does not know; false: the rules of staggered::tile_for() and
  /// launch_for(). resident: bytes a site that the owners hold besides.
  StaggeredLevel(const runtime::Decomposition& decomposition, Precision precision, const smear::StaggeredLinks& links, int long_reals,
                 const StaggeredSpeed& speed, bool measure, double resident);

  /// The same with long links of `long_reals` reals: layout, order of sites and fat links are those of `level`, which has long links.
  StaggeredLevel(const StaggeredLevel& level, const smear::StaggeredLinks& links, int long_reals);

  const LatticePointer& lattice() const { return lattice_; }
  /// That of the solve which has the turn (runtime/graph/turns.hpp): its faces and sums are its own. The first call for a
  /// number of vectors may measure: then nothing else should run; among other solves in flight it does not.
  staggered::Dslash& dslash(int vectors);
  /// Of the links, without those of another level.
  double bytes_a_site() const { return bytes_a_site_; }
  /// Bytes a site that the owners hold besides, from now on.
  void set_resident(double bytes_a_site) { problem_.resident = bytes_a_site; }

  /// out_v = a_v in_v + scale_v D in_v, both parities.
  void apply(const ColourFields& out, const ColourFields& in, const staggered::PerVector& a, double scale);
  /// r = b - (2m + D) x.
  void residual(const ColourFields& r, const ColourFields& b, const ColourFields& x, const staggered::PerVector& mass);
  /// |f_v|^2 over both parities; waits for the tasks before it.
  std::vector<double> norm2(const ColourFields& f);

 private:
  StaggeredSpeed speed_;
  bool measure_;
  staggered::TuningProblem problem_;
  Coord tile_;
  LatticePointer lattice_;
  staggered::Links even_, odd_;
  double bytes_a_site_;
  std::map<std::pair<int, int>, std::unique_ptr<staggered::Dslash>> dslash_;  ///< by Turns::lane() and number of vectors
  std::map<int, staggered::Launch> launches_;                                 ///< by number of vectors
};

}  // namespace quarkstar
