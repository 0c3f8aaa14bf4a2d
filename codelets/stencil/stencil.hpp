#pragma once
// The driver of every hopping operator on the task graph: packs, interiors and boundaries.
#include "codelets/arch/block_threads.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/link_field.hpp"
#include "codelets/field/site_field.hpp"
#include "codelets/stencil/choice.hpp"
#include "codelets/stencil/face_format.hpp"
#include "runtime/cut/halo.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>
#include <string>

namespace quarkstar::stencil {

inline constexpr int most_site_fields = 2;

/// One of the matrices of an epilogue that mixes vectors, times a factor. form, step, offset: where and how it lies among the epilogue's
/// numbers, which the operator knows.
struct MixingTerm {
  std::int32_t form, step;
  std::int64_t offset;
  double factor;
};

/// What an epilogue takes that mixes the vectors of a site: vector s n + v is one of right-hand side v of n. Sums are taken over all
/// vectors of a right-hand side, and right-hand sides are left out whole.
struct MixingOptions {
  const runtime::Handle* numbers = nullptr;  ///< of the terms' matrices; nullptr: vectors are not mixed
  int right_hand_sides = 0;                  ///< n
  std::array<MixingTerm, 2> terms{};         ///< out = the first times one field + the second times another
  int of_hops = 0;                           ///< which term's field is what `x`, `diagonal` and `scale` make of the hops
  const Field* beside = nullptr;             ///< the other one's, on the sites of the result; nullptr: there is no other
  double flops = 0;                          ///< per site and vector
};

/// What the epilogue of an operator (codelets/stencil/epilogue.hpp) takes beside x, diagonal and scale. A linear one takes nothing.
struct EpilogueOptions {
  int form = 0;                                             ///< which of the forms that it has
  PerVector numbers{};                                      ///< of its own
  std::array<const SiteField*, most_site_fields> fields{};  ///< on the sites of the result; nullptr from the first that is not there
  MixingOptions mixing{};                                   ///< of an operator with mixing_codelet()
};

/// What is done with the sum of hops before it is stored, and which sums are taken over the result, for each vector, or right-hand side
/// where the epilogue mixes vectors.
struct Output {
  const Field* x = nullptr;  ///< out_v = diagonal_v x_v + scale_v D in_v; without x: scale_v D in_v
  PerVector diagonal{}, scale = same_for_all(1);
  EpilogueOptions epilogue{};
  const Field* y = nullptr;  ///< of the dot product
  OutputSums sums = {};
  int forward_along = -1;  ///< in place of D its hops forward along this direction alone; without x or sums
};

/// Arguments of the sites codelet. Buffers: tables, links, in, out, then those present of partial sums, more links, x, y, site fields, what
/// is beside the hops and the numbers where vectors are mixed, state, faces. Without hops: out, x, site fields, state.
struct SitesTask {
  Choice choice;
  std::uint32_t near, far, sites, near_at, far_at, count;
  std::int32_t first;                  ///< outer site from which sites without a list count
  PerVector diagonal, scale, numbers;  ///< numbers: of the epilogue, as its form
  double constants[16];                ///< of the operator
  int stride[4];
  MixingTerm terms[2];
  int vectors, right_hand_sides;  ///< right_hand_sides: as many as vectors where these are not mixed; sums and masks are theirs
  int link_fields, form, site_fields, of_hops;
  OutputSums sums;
  bool has_x, has_y, mixes, has_beside, has_state;
  Obedience obedience;
  std::int8_t face_buffer[8];  ///< number of the face among the face buffers; -1: not cut
};

struct PackTask {
  int lanes, vectors, sign, faces;  ///< Field::width() and groups(); faces to pack
  bool chunked, has_state;
  runtime::When when;
  struct Face {
    int direction, stride;
    std::uint32_t sites, count;
    int remote;  ///< the reader is another GPU, in whose memory the face is
  } face[8];
};

/// What the driver must know of an operator.
struct Kind {
  const char* name;
  int components;  ///< of its vectors
  FaceFormat face;
  double flops;               ///< per site and vector, of the hops
  double link_bytes;          ///< per site, of all links that it reads
  int neighbours = 8;         ///< of a site
  bool complex_dot = true;    ///< its kernels take the imaginary part of a dot product too
  double epilogue_flops = 0;  ///< per site and vector, beyond those of a linear one, for each site field that it has
  bool single_hops = false;   ///< whether its kernels know Output::forward_along
};

/// A hopping operator D between the parities of n vectors. Tasks for each block: pack its faces, interior sites, boundary sites; where
/// nothing is cut, one task. A link is read once for all vectors. Same bits for every cut, architecture, schedule, and number of vectors
/// beside a vector. Cost: Kind::flops, and bytes links + n (in + out [+ x] [+ y]), each once.
class Stencil {
 public:
  virtual ~Stencil() = default;

  /// Submits out = Output(D in), or with D^+. guard: the state that stops it. Throws ShapeError when the fields' kinds, parities, lattices
  /// or numbers of vectors do not fit.
  void apply(const Field& out, const Field& in, const Output& output = {}, bool adjoint = false, const runtime::Guard& guard = {});

  /// Submits out = the operator's epilogue of no hops, without sums: out and output.x on one parity. Throws as apply() does, and where the
  /// operator's epilogue is linear (codelets/field/blas.hpp).
  void apply_epilogue(const Field& out, const Output& output, const runtime::Guard& guard = {});

  /// The sums of the last apply(): OutputSums::count() of them for each vector, sum s of vector v at s n + v.
  const runtime::PartialSums& sums() const { return sums_; }
  const LatticePointer& lattice() const { return lattice_; }
  int vectors() const { return vectors_; }
  int components() const { return kind_.components; }

  /// How the kernels are launched from now on. Changes no bit. Throws Error(input) for blocks of threads that no kernel could run in.
  void set_launch(const Launch& launch) {
    arch::require_block_size(launch.block_threads);
    launch_ = launch;
  }
  const Launch& launch() const { return launch_; }

  /// Compulsory bytes and flops of `outer_sites` outer sites.
  runtime::Cost cost(std::int64_t outer_sites, const Output& output) const;
  /// Bytes that a core loads and stores for them: those of cost(), but a site's vectors once for each neighbour that reads them.
  double core_bytes(std::int64_t outer_sites, const Output& output) const;

 protected:
  Stencil(LatticePointer lattice, const Kind& kind, int vectors, const Launch& launch);
  Stencil(const Stencil&) = delete;

  /// The links that sites of a parity read, in the order of the kernel's buffers; at most two.
  virtual std::array<const LinkField*, 2> links(int parity) const = 0;
  /// Sets what only the operator knows: constants, scale where links have units, link formats in the choice.
  virtual void complete(SitesTask& task, int parity) const = 0;
  virtual const runtime::Codelet& sites_codelet(bool boundary) const = 0;
  /// With an epilogue that mixes vectors; nullptr where there is none.
  virtual const runtime::Codelet* mixing_codelet(bool /*boundary*/) const { return nullptr; }
  virtual const runtime::Codelet& pack_codelet() const = 0;
  /// Of apply_epilogue(); nullptr for a linear epilogue.
  virtual const runtime::Codelet* epilogue_codelet() const { return nullptr; }

 private:
  struct Submission;
  void check(const std::string& where, const Field& out, const Output& output) const;
  double epilogue_flops(const Output& output) const;
  double bytes_per_site(double fields, const Output& output) const;
  void describe_epilogue(SitesTask& task, const Output& output) const;
  void submit_pack(int block, const Field& in, const Submission& submission);
  void submit_sites(int block, bool boundary, const Field& out, const Field& in, const Submission& submission);

  LatticePointer lattice_;
  Kind kind_;
  int vectors_;
  Launch launch_;
  runtime::Halo faces_;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar::stencil
