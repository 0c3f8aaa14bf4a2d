#pragma once
// Two-point functions of a propagator, on the task graph.
#include "codelets/contract/correlators.hpp"
#include "codelets/field/field.hpp"

#include <memory>
#include <span>
#include <vector>

namespace quarkstar::contract {

/// The correlators of one propagator, or of two from one source, C(p, t) = sum_x exp(-i p.(x - x0)) c(x, t) with the c of the families in
/// families.inc, p = 2 pi n / L, t counted from the source. x0: the point of a point source, else the origin. Sites are added in
/// runtime::BinnedSum, and phases are made once: the result depends on the bits of the columns alone, not on cut, device, layout, policy or
/// number of ranks.
class Contraction {
 public:
  /// Of columns that come one after the other, on this lattice. Throws ShapeError unless it is in double precision.
  Contraction(const std::vector<Choice>& choices, const Request& request, LatticePointer lattice, const Source& source);
  /// Of columns that are there: add()s them.
  Contraction(const std::vector<Choice>& choices, const Request& request, const FullField& columns, std::span<const int> vectors,
              const Source& source)
      : Contraction(choices, request, columns.even.lattice(), source) {
    add(columns, vectors);
  }

  /// Submits one task per block and family; `columns` may go once it returns. vectors[c]: which vector of `columns` is column c (3 spin +
  /// colour, or the colour, of the source), where a family takes two propagators of the one and then of the other. What comes of several
  /// calls is added. Cost: a pass over these vectors, the family's flop per site, and about 20 flop for each sum (one or two of each
  /// channel and momentum) and site. Throws ShapeError for other kinds and numbers of columns, and fields of another lattice.
  void add(const FullField& columns, std::span<const int> vectors);

  /// Waits for the tasks, and adds over ranks, which must all call. Of each family [t][momentum][channel][re, im].
  std::vector<std::vector<double>> sums() const;
  /// The same as correlators, in the order of families, momenta and channels.
  std::vector<Correlator> correlators() const;

 private:
  struct Part {
    Choice choice;
    std::vector<runtime::Handle> sums;  ///< of each add(), and of these each block of this rank: [time slice][momentum][channel][re, im]
  };
  Request request_;
  Source source_;
  LatticePointer lattice_;
  runtime::Handle phases_;
  std::vector<Part> parts_;
};

}  // namespace quarkstar::contract
