#pragma once
// Fields of the task graph: one handle for each block of this rank.
#include "codelets/field/host_field.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/lattice/lattice.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar {

/// Components of a coarse vector that lie side by side where the lanes of sites lie elsewhere.
inline constexpr int coarse_lanes = 8;
/// Whether a vector has as many components as one of multigrid's coarse levels: 2 N, N a multiple of 4. Spinors and colour vectors have
/// not.
constexpr bool is_coarse(int components) { return components > 0 && components % coarse_lanes == 0; }

/// Field::parity() of fields on all sites.
inline constexpr int both_parities = 2;

/// n vectors of one kind on each site of one parity, or of both, the even sites first: spinors, colour vectors, coarse vectors. A block
/// stores [outer site][vector][component][re, im][lane]; in half precision [outer site][vector][unit, then one word (re, im) for each
/// component][lane] (codelets/field/number_format.hpp). The vectors of a site lie side by side, so that a kernel reads a link once for all
/// of them. Where the lattice has G vectors in lanes (Lattice::vectors_in_lanes()) a block stores [site][group of G vectors][component][re,
/// im][vector of the group]: a group is what elsewhere is a vector of G lanes. Spinors of lattices that are chunked() have the words of a
/// lane in chunks of 16 bytes, [chunk][lane][word of the chunk] where others have [word][lane] (codelets/field/word_place.hpp); in half
/// precision [unit][lane] comes before the chunks. Coarse vectors, on lattices with one lane of sites, are [outer site][group of 8
/// components][vector] [re, im][component of the group]: a group is what elsewhere is an outer site of one component. On lattices with L
/// slices of a fifth dimension a vector has a spinor on each: [outer site][slice][vector][component][re, im][lane], and a slice is to
/// vector operations what elsewhere is an outer site, to hops L n vectors. With the slices in lanes (Lattice::slices_in_lanes()) that is
/// [site][vector][component][re, im][slice], and a slice is to vector operations what elsewhere is a lane.
class Field {
 public:
  /// Throws ShapeError unless 1 <= vectors <= most_vectors over the slices, for coarse vectors where lanes are of sites or of vectors, and
  /// with vectors in lanes where they fill no whole groups, or are neither colour vectors of a session without GPUs nor spinors on GPUs
  /// alone: there are no kernels for these.
  Field(LatticePointer lattice, int parity, int components, int vectors = 1);

  const LatticePointer& lattice() const { return lattice_; }
  int parity() const { return parity_; }
  /// Complex numbers of one vector at a site, and reals.
  int components() const { return components_; }
  int reals() const { return 2 * components_; }
  int vectors() const { return vectors_; }
  /// On all slices: s n + v is slice s of vector v.
  int site_vectors() const { return lattice_->slices() * vectors_; }
  /// Lanes of an outer site, each with the same words: of sites, of components or of slices.
  int lanes() const {
    return is_coarse(components_) ? coarse_lanes : lattice_->slices_in_lanes() ? lattice_->slices() : lattice_->lanes().lanes;
  }
  /// Lattice::vectors_in_lanes(), of vectors that are not slices.
  int vectors_in_lanes() const { return lattice_->slices_in_lanes() ? 1 : lattice_->vectors_in_lanes(); }
  /// What lies side by side where lanes do, and how often: G and n / G where vectors are in lanes, L and n where slices are, else lanes()
  /// and n, times the slices.
  int width() const { return vectors_in_lanes() * lanes(); }
  int groups() const { return site_vectors() / lattice_->vectors_in_lanes(); }
  /// Whether its words lie in chunks.
  bool chunked() const { return lattice_->chunked() && components_ == spinor_components; }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  /// Outer sites of one block (of coarse vectors groups of components, with slices that are not in lanes those of each), vectors of all of
  /// them, and their bytes.
  std::int64_t outer_sites(int b) const {
    return std::int64_t{parity_ == both_parities ? 2 : 1} * (lattice_->slices_in_lanes() ? 1 : lattice_->slices()) *
           lattice_->block(b).outer_sites() * (is_coarse(components_) ? components_ / coarse_lanes : 1);
  }
  std::int64_t block_vectors(int b) const {
    return std::int64_t{parity_ == both_parities ? 2 : 1} * lattice_->slices() * lattice_->block(b).outer_sites() *
           lattice_->lanes().lanes * vectors_;
  }
  double block_bytes(int b) const {
    return static_cast<double>(block_vectors(b)) * static_cast<double>(site_bytes(lattice_->precision(), reals()));
  }

  /// Throws ShapeError naming `where` unless the other field is of this lattice, parity and kind.
  void require_alike(const char* where, const Field& other) const;

 private:
  LatticePointer lattice_;
  int parity_, components_, vectors_;
  std::vector<runtime::Handle> blocks_;
};

/// Both parities of a field.
struct FullField {
  Field even, odd;
  FullField(const LatticePointer& lattice, int components, int vectors = 1)
      : even(lattice, 0, components, vectors), odd(lattice, 1, components, vectors) {}
  const Field& of(int parity) const { return parity == 0 ? even : odd; }
};

/// body(integral constant) with the number of components of a field: kernels are made for these. Throws ShapeError for coarse vectors.
template <class Body>
decltype(auto) with_components(int components, Body&& body) {
  if (is_coarse(components)) throw ShapeError("with_components", "an operation that coarse vectors do not have");
  if (components == colour_components) return body(std::integral_constant<int, colour_components>{});
  return body(std::integral_constant<int, spinor_components>{});
}

}  // namespace quarkstar
