#include "solvers/eigen/eigen_projector.hpp"

#include "codelets/field/transfer.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"

#include <algorithm>

namespace quarkstar {

EigenProjector::EigenProjector(const LatticePointer& lattice, int parity, int components, std::vector<double> values, Precision stored)
    : values_(std::move(values)),
      basis_(lattice, parity, components, block_for(modes(), lattice->slices()), vectors_for(modes(), lattice->slices()), stored) {}

void EigenProjector::add(std::span<const HostField> vectors) {
  const int fields = static_cast<int>(vectors.size()), n = fields / basis_.lattice()->slices();
  if (n < 1 || fields != n * basis_.lattice()->slices() || n != std::min(basis_.block(), modes() - basis_.count()))
    throw ShapeError("EigenProjector::add", "no such block of vectors");
  const runtime::Settled settled;
  const Field given = basis_.field(n);
  transfer::load(given, vectors);
  if (n == basis_.block()) {
    basis_.append(given);
  } else {
    const Field filled = basis_.field();  // with vectors that are zero
    SmallMatrix place = SmallMatrix::Zero(n, basis_.block());
    place.leftCols(n).setIdentity();
    multiply(filled, nullptr, given, place);
    basis_.append(filled);
  }
  runtime::Session::current().wait_all();  // the host's fields are free again
}

void EigenProjector::apply(const Field& out, const Field& in, const PerVector& shifts) const {
  if (basis_.count() < modes()) throw ShapeError("EigenProjector::apply", "eigenvectors are missing");
  if (in.vectors() != out.vectors() && in.vectors() != 1) throw ShapeError("EigenProjector::apply", "fields of other numbers of vectors");
  const SmallMatrix c = basis_.products(in);
  SmallMatrix weighted = SmallMatrix::Zero(basis_.count(), out.vectors());
  for (int v = 0; v < out.vectors(); ++v)
    for (int i = 0; i < modes(); ++i)
      weighted(i, v) = c(i, in.vectors() == 1 ? 0 : v) / (values_[static_cast<std::size_t>(i)] + shifts[static_cast<std::size_t>(v)]);
  basis_.combine(out, weighted);
}

/// Numbers of 24 and of 15 bits leave 1e-7 and 3e-5 of a mode where all of them are rounded alike, as those of smooth modes are, and more
/// along modes with larger eigenvalues. Five digits and two end before that: smooth links of 8^4 sites, 24 modes, m = 0.002 take 56
/// iterations in double, 57 in single and 59 in half precision; with three digits half takes 72, with four 381.
double EigenProjector::gain2() const {
  switch (basis_.stored()) {
    case Precision::double_:
      return 0;
    case Precision::single:
      return 1e-10;
    case Precision::half:
      break;
  }
  return 1e-4;
}

}  // namespace quarkstar
