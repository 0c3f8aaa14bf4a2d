#pragma once
// The staggered Dslash on the task graph.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/actions/staggered/links.hpp"
#include "codelets/actions/staggered/vector_status.hpp"
#include "codelets/arch/block_threads.hpp"
#include "runtime/cut/halo.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>
#include <vector>

namespace quarkstar::staggered {

/// Of a site and right-hand side: 16 products of a matrix and a vector and 15 sums, half of that without long links.
constexpr double dslash_flops(bool has_long) { return has_long ? 1146 : 570; }

/// What is done with D in before it is stored, and which sums are taken over the result (|out|^2, Re <y, out>), for
/// each vector.
struct Output {
  const ColourField* x = nullptr;  ///< out_v = diagonal_v x_v + scale_v D in_v; without x: scale_v D in_v
  PerVector diagonal{}, scale = same_for_all(1);
  const ColourField* y = nullptr;
  OutputSums sums = {};
};

/// D chi(x) = sum_mu [X_mu(x) chi(x + mu) - X_mu^+(x - mu) chi(x - mu) + N_mu(x) chi(x + 3 mu) - N_mu^+(x - 3 mu) chi(x
/// - 3 mu)] for n vectors at once; chi of one parity in, the other parity out; lattice units, phases within the links.
/// D^+ = -D. Tasks for each block: pack its faces (three layers of colour vectors, one where there are no long links),
/// interior sites, boundary sites; where nothing is cut, one task. A link is read once for all vectors. Cost: 1146 flop
/// a site and vector (570 without long links); bytes 16 links + n (in + out [+ x] [+ y]), each once. In half precision
/// in, out, x and y have a unit a site, links one for the lattice; arithmetic is in single precision. Same bits for
/// every cut, architecture, schedule, and number of vectors beside a vector. Source: Follana et al., hep-lat/0610092;
/// phases and normalisation in docs/conventions.md, sections 4 and 5.
class Dslash {
 public:
  /// links of even and odd sites; n: vectors of every field. Throws ShapeError for compressed long links on a lattice
  /// with vectors in lanes, which have no kernels.
  Dslash(const Links& even, const Links& odd, int vectors);

  /// Submits out = Output(D in). Throws ShapeError when the fields' parities, lattices or numbers of vectors do not
  /// fit.
  void apply(const ColourField& out, const ColourField& in, const Output& output = {}, const Control& control = {});

  /// How the kernels are launched from now on; until then by default_launch(). Throws Error(input) for blocks that no kernel could run in.
  void set_launch(const Launch& launch) {
    arch::require_block_size(launch.block_threads);
    launch_ = launch;
  }

  /// The sums of the last apply(): OutputSums::count() of them.
  const runtime::PartialSums& sums() const { return sums_; }

  const LatticePointer& lattice() const { return links_[0]->fat.lattice(); }
  int vectors() const { return vectors_; }
  int long_reals() const { return links_[0]->long_reals(); }

  /// Compulsory bytes and flops of `outer_sites` outer sites.
  runtime::Cost cost(std::int64_t outer_sites, const Output& output) const;

 private:
  struct Submission;
  void submit_pack(int block, const ColourField& in, const Submission& submission);
  void submit_sites(int block, bool boundary, const ColourField& out, const ColourField& in, const Submission& submission);

  std::array<const Links*, 2> links_;
  int vectors_;
  Launch launch_ = default_launch(vectors_);
  runtime::Halo faces_;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar::staggered
