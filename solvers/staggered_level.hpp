#pragma once
// The staggered operator in one precision, and steps on fields of both parities.
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "codelets/staggered/colour_transfer.hpp"
#include "codelets/staggered/dslash.hpp"
#include "solvers/even_odd_staggered.hpp"

namespace quarkstar {

/// Both parities of n colour vectors on the whole lattice.
struct ColourFields {
  staggered::ColourField even, odd;
  ColourFields(const LatticePointer& lattice, int vectors) : even(lattice, 0, vectors), odd(lattice, 1, vectors) {}
  const staggered::ColourField& of(int parity) const { return parity == 0 ? even : odd; }
};

/// Layout, links, and a Dslash for every number of vectors that was asked for.
class StaggeredLevel {
 public:
  StaggeredLevel(const runtime::Decomposition& decomposition, Precision precision, const smear::StaggeredLinks& links, int long_reals);

  const LatticePointer& lattice() const { return lattice_; }
  /// That of the solve which has the turn (runtime/turns.hpp): its faces and sums are its own.
  staggered::Dslash& dslash(int vectors);

  /// out_v = a_v in_v + scale_v D in_v, both parities.
  void apply(const ColourFields& out, const ColourFields& in, const staggered::PerVector& a, double scale);
  /// r = b - (2m + D) x.
  void residual(const ColourFields& r, const ColourFields& b, const ColourFields& x, const staggered::PerVector& mass);
  /// |f_v|^2 over both parities; waits for the tasks before it.
  std::vector<double> norm2(const ColourFields& f);

 private:
  LatticePointer lattice_;
  staggered::Links even_, odd_;
  std::map<std::pair<int, int>, std::unique_ptr<staggered::Dslash>> dslash_;  ///< by Turns::lane() and number of vectors
};

}  // namespace quarkstar
