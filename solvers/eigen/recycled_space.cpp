#include "solvers/eigen/recycled_space.hpp"

#include "codelets/field/norms.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar {
namespace {

/// Vectors that pass through memory together. What is added is filled up with zeros to a multiple.
constexpr int block = 4;
int whole_blocks(int n) { return quarkstar::whole_blocks(n, block); }
/// V at its largest, where n are added at a time.
int largest(int modes, int n) { return whole_blocks(modes) + std::max(whole_blocks(modes), whole_blocks(n)); }
int whole_tiles(int n) { return quarkstar::whole_blocks(n, Basis::tile_for(block)); }

}  // namespace

RecycledSpace::RecycledSpace(const LatticePointer& lattice, int parity, int components, int modes)
    : modes_(modes),
      basis_(lattice, parity, components, block, largest(modes, most_vectors)),
      gram_(SmallMatrix::Zero(basis_.capacity(), basis_.capacity())),
      images_(gram_) {
  if (modes < least_modes || modes > most_modes) throw ShapeError("RecycledSpace", "too few modes, or too many");
}

int RecycledSpace::most_vectors_for(int modes, int n) { return whole_tiles(largest(modes, n)) + whole_tiles(modes) + block; }

double RecycledSpace::matrix_bytes(int modes, int n) {
  const double all = largest(modes, n), capacity = largest(modes, most_vectors),
               tiles = 1.0 * whole_tiles(static_cast<int>(all)) / Basis::tile_for(block);
  // V^+ V and V^+ A V stay. Rayleigh and Ritz hold at once, at their peak: an eigensolver's matrix and vectors, the two factors, a product
  // and its operands. While V shrinks there is the rotation too, and a matrix for every task that turns a field into another.
  constexpr double matrices = 8, complex_bytes = 16;
  const double rotations = tiles * whole_tiles(modes) / Basis::tile_for(block) * multiplication_bytes();
  return complex_bytes * (2 * capacity * capacity + matrices * all * all) + rotations;
}

double RecycledSpace::sums_on_a_block(int modes, int n) { return 2.0 * whole_tiles(largest(modes, n)) * n; }

const RecycledSpace::Ritz& RecycledSpace::ritz() const {
  if (!ritz_) ritz_ = computed_ritz();
  return *ritz_;
}

/// Directions of V that are shorter than `resolution` of the longest are what rounding leaves of them.
RecycledSpace::Ritz RecycledSpace::computed_ritz() const {
  constexpr double resolution = 1e-6;
  const int count = basis_.count();
  const OrthonormalFactors factors = orthonormal_factors(gram_.topLeftCorner(count, count), resolution);
  SmallMatrix t(count, factors.rank);  // without the columns that are zero
  for (int from = 0, to = 0; from < count; ++from)
    if (!factors.t.col(from).isZero(0)) t.col(to++) = factors.t.col(from);
  const HermitianEigenpairs pairs = hermitian_eigenpairs(t.adjoint() * images_.topLeftCorner(count, count) * t);
  Ritz ritz;
  const Eigen::Index negative = (pairs.values.array() <= 0).count();  // by rounding: nothing is known of these
  for (Eigen::Index i = negative; i < pairs.values.size(); ++i) ritz.values.push_back(pairs.values(i));
  ritz.vectors = t * pairs.vectors.rightCols(pairs.values.size() - negative);
  return ritz;
}

void RecycledSpace::shrink() {
  const Ritz& now = ritz();
  const int kept = std::min(whole_blocks(modes_), static_cast<int>(now.values.size())), all = whole_blocks(kept);
  SmallMatrix rotation = SmallMatrix::Zero(basis_.count(), all);
  rotation.leftCols(kept) = now.vectors.leftCols(kept);
  basis_.rotate(rotation);
  gram_.setZero();
  images_.setZero();
  gram_.topLeftCorner(kept, kept).setIdentity();
  for (int i = 0; i < kept; ++i) images_(i, i) = now.values[static_cast<std::size_t>(i)];
  ritz_.reset();
}

void RecycledSpace::add(const Field& d, const Field& images) {
  const int n = d.vectors(), more = whole_blocks(n);
  if (images.vectors() != n) throw ShapeError("RecycledSpace::add", "not an image for each vector");
  const std::vector<double> of_d = norms2(d), of_images = norms2(images);
  Eigen::VectorXd scale = Eigen::VectorXd::Zero(n);
  for (int v = 0; v < n; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (!std::isfinite(of_d[i]) || !std::isfinite(of_images[i])) return;  // in what is added together all are touched by it
    if (of_d[i] > 0) scale(v) = 1 / std::sqrt(of_d[i]);
  }
  if (scale.isZero(0)) return;
  if (basis_.count() + more > largest(modes_, n)) shrink();
  ritz_.reset();
  const int before = basis_.count(), count = before + more;
  const Field some = basis_.field();
  for (int first = 0; first < n; first += block) {
    SmallMatrix place = SmallMatrix::Zero(n, block);
    for (int v = first; v < std::min(n, first + block); ++v) place(v, v - first) = scale(v);
    multiply(some, nullptr, d, place);
    basis_.append(some);
  }
  const auto fill = [&](SmallMatrix& m, const Field& w) {
    m.block(0, before, count, n) = basis_.products(w) * scale.asDiagonal();
    for (int v = before; v < before + n; ++v) {
      m(v, v) = m(v, v).real();
      for (int i = 0; i < v; ++i) m(v, i) = std::conj(m(i, v));
    }
  };
  fill(gram_, d);
  fill(images_, images);
}

std::vector<double> RecycledSpace::values() const { return is_empty() ? std::vector<double>{} : ritz().values; }

void RecycledSpace::apply(const Field& out, const Field& in, const PerVector& shifts, [[maybe_unused]] bool exact) const {
  if (in.vectors() != out.vectors() && in.vectors() != 1) throw ShapeError("RecycledSpace::apply", "fields of other numbers of vectors");
  const Ritz& now = ritz();
  const SmallMatrix c = now.vectors.adjoint() * basis_.products(in);
  SmallMatrix weighted(c.rows(), out.vectors());
  for (int v = 0; v < out.vectors(); ++v)
    for (Eigen::Index i = 0; i < c.rows(); ++i)
      weighted(i, v) = c(i, in.vectors() == 1 ? 0 : v) / (now.values[static_cast<std::size_t>(i)] + shifts[static_cast<std::size_t>(v)]);
  basis_.combine(out, now.vectors * weighted);
}

}  // namespace quarkstar
