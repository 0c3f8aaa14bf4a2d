#pragma once
// The additive Schwarz preconditioner of the even-odd Wilson system, on the task graph.
#include "codelets/field/field.hpp"
#include "codelets/field/link_field.hpp"
#include "runtime/graph/scalar.hpp"

#include <vector>

namespace quarkstar::wilson {

/// Throws Error(input) naming schwarz-block unless the domains fit: even extents that divide the lattice's, no block that cuts one, and no
/// more sites than a thread, or where the session has GPUs a multiprocessor in this precision, keeps four spinors of in its memory.
void require_domains(const runtime::Decomposition& decomposition, const Coord& domain, Precision precision);

/// Bytes that a thread keeps for solving domains, at most: 3072 per site (four spinors on half of the sites, in all lanes of 64-byte
/// registers).
double schwarz_thread_bytes(const Coord& domain);

/// out = K in, K an approximate inverse of A = diagonal + scale H_oe H_eo on the odd sites: the lattice is cut into domains, rectangles of
/// sites counted from the origin; each solves A_D z = in on its own sites by a fixed number of steps of minimal residual from z = 0, A_D
/// being A with the hops that leave the domain left out (Dirichlet; also where a domain is as long as the lattice). No message, no face, no
/// sum over the lattice: one task per block. K is linear in no precision (alpha depends on `in`), so its solver must be flexible.
/// A domain's sums run over its own sites in one order, in the fields' precision: same bits for every cut that keeps domains whole, every
/// architecture, worker count and schedule, and on GPUs.
/// Cost: steps * (2 hopping terms without the hops that leave + 72 + 336) flop per site; bytes: links of both parities, in, out once each.
/// Source: M. Luescher, hep-lat/0310048; M. A. Clark et al., 1011.0024 (Dirichlet cuts, minimal residual inside).
class Schwarz {
 public:
  /// links[p]: the links that touch sites of parity p (frozen), on a lattice whose lane grid has the domain's extents for unit.
  /// steps: at least 1. Throws Error(input) as require_domains() does, ShapeError for vectors in lanes.
  Schwarz(const LinkField& even, const LinkField& odd, const Coord& domain, int steps, double diagonal, double scale);

  /// Submits out_v = K in_v for n spinors of odd sites. guard: the state that stops it.
  void apply(const Field& out, const Field& in, const runtime::Guard& guard = {}) const;

 private:
  void make_tables();
  runtime::Cost cost(std::int64_t outer_sites, int vectors) const;

  std::array<const LinkField*, 2> links_;
  Coord domain_;
  int steps_;
  double diagonal_, scale_;
  std::vector<runtime::Handle>
      tables_;  ///< of each local block: the outer sites of its domains, even then odd; then neighbours, even then odd
};

/// 32-bit words of the tables of a block with so many outer sites of one parity.
constexpr std::int64_t schwarz_table_words(std::int64_t outer_sites, const Coord& domain) { return 2 * outer_sites + 8 * volume(domain); }

}  // namespace quarkstar::wilson
