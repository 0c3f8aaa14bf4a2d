#pragma once
// The Wilson hopping term on the task graph.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/field/fields.hpp"
#include "runtime/cut/halo.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>
#include <vector>

namespace quarkstar::wilson {

/// What is done with H in before it is stored, and which sums are taken over the result (<y, out>, |out|^2).
struct Output {
  const SpinorField* x = nullptr;  ///< out = diagonal x + scale H in; without x: scale H in
  double diagonal = 0, scale = 1;
  const SpinorField* y = nullptr;
  OutputSums sums = {};
};

/// H psi(x) = sum_mu [(1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu^+(x - mu) psi(x - mu)], r = 1, lattice units, with the
/// lattice's boundary phases; psi of one parity in, the other parity out.
/// Tasks for each block: pack its faces (half spinors), interior sites, boundary sites; where nothing is cut, one task.
/// Cost: 1320 flop a site; bytes (8 links + in + out [+ x] [+ y]) (each once). Same bits for every cut, architecture and schedule.
/// Source: Gattringer and Lang, ch. 5; signs and basis in docs/conventions.md, section 1.
class Hopping {
 public:
  /// links[p]: the links that touch sites of parity p (frozen).
  Hopping(const LinkField& even, const LinkField& odd);

  /// Submits out = Output(H in), or with adjoint = true the adjoint gamma5 H gamma5. guard: the state that stops it.
  /// Throws ShapeError when the fields' parities or lattices do not fit.
  void apply(const SpinorField& out, const SpinorField& in, const Output& output = {}, bool adjoint = false,
             const runtime::Guard& guard = {});

  /// The sums of the last apply(): OutputSums::count() of them, in the order norm, dot.re, dot.im.
  const runtime::PartialSums& sums() const { return sums_; }

  const LatticePointer& lattice() const { return links_[0]->lattice(); }
  int link_reals() const { return links_[0]->reals(); }

  /// Threads of a GPU block, a multiple of 32 up to 256; 0: chosen by size. Changes no bit. Throws Error(input) for
  /// others.
  void set_block_threads(int threads) {
    arch::require_block_size(threads);
    block_threads_ = threads;
  }

  /// How CPU kernels move the fields. Changes no bit.
  void set_memory_access(const arch::MemoryAccess& memory) { memory_ = memory; }

  /// Compulsory bytes and flops of `outer_sites` outer sites.
  runtime::Cost cost(std::int64_t outer_sites, const Output& output) const;

 private:
  struct Submission;
  void submit_pack(int block, const SpinorField& in, const Submission& submission);
  void submit_sites(int block, bool boundary, const SpinorField& out, const SpinorField& in, const Submission& submission);

  std::array<const LinkField*, 2> links_;
  runtime::Halo faces_;
  int block_threads_ = 0;
  arch::MemoryAccess memory_ = default_memory_access;
  runtime::PartialSums sums_;
};

}  // namespace quarkstar::wilson
