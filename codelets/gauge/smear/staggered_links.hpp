#pragma once
// The links of a staggered Dirac operator, made from a gauge configuration through the task graph.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/boundary.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/cut/decomposition.hpp"

namespace quarkstar::smear {

/// Sites that the longest hop of a staggered operator spans.
constexpr int longest_hop(bool has_long_links) { return has_long_links ? 3 : 1; }

/// Sites with links of one hop, or three, that touch a part: hops into it begin before it.
inline Box hops_box(const Box& part, const Coord& lattice, int reach) { return with_border(part, lattice, reach, 0); }

/// Links of D chi(x) = sum_mu [X_mu(x) chi(x+mu) - X_mu^+(x-mu) chi(x-mu) + N_mu(x) chi(x+3mu) - N_mu^+(x-3mu)
/// chi(x-3mu)].
///
/// Both fields contain everything that D needs, as MILC's files do: the staggered phases eta_mu(x) of
/// docs/conventions.md 4 (of global coordinates), the boundary phases, and the coefficients. So an operator multiplies
/// links and vectors and nothing else. A boundary angle theta puts e^{i pi theta} into X_mu at x_mu = L-1 and into N_mu
/// at L-3, L-2, L-1; it must not be applied again. On one of several ranks each field is a box of the lattice: the
/// rank's part and the sites before it from which hops lead into it (hops_box).
struct StaggeredLinks {
  HostGauge fat;         ///< X, one hop: any 3x3 matrices
  HostGauge long_links;  ///< N, three hops: long_scale times U(3) matrices. No data where has_long is false
  bool has_long = false;
  double naik_epsilon = 0;  ///< HISQ's mass-dependent correction of the Naik term
  double long_scale = 0;    ///< real and signed: -(1 + eps)/24 (HISQ), -1/(24 u0^2) (asqtad); 0 where has_long is false
  int reach() const { return longest_hop(has_long); }
};

// All functions below need a running session, whose workers own the blocks, and return when the links are there. gauge:
// links without any phase, SU(3) to the precision of its file, of this rank's part or more. The links have the same bits
// for any decomposition, number of ranks and workers, policy and device. On several ranks every rank calls. They throw
// ShapeError when gauge does not hold the part, Error(input) naming blocks where one is too thin: links in the making are
// needed two sites around a block (fat7 one, asqtad's paths and the product of three links two), and long links three
// sites before it where ranks cut the lattice.

/// Sites around a block that the field of kept links of one hop, or three, has: those from which hops lead into it, where other ranks have
/// them.
Coord border_of_kept(const runtime::Decomposition& decomposition, bool is_long);

/// Throws Error(input) naming u0 unless it is finite and above 0.
void check_tadpole_factor(double u0);

/// Throws Error(input) naming naik-epsilon unless it is finite and above -1, where the long links vanish.
void check_naik_epsilon(double naik_epsilon);

/// X = U, no N.
StaggeredLinks naive_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary);

/// Asqtad with tadpole factor u0 (coefficients: docs/conventions.md 5; MILC's choice, without the overall 1/u0).
/// Throws Error(input) unless u0 > 0.
StaggeredLinks asqtad_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary, double u0);

/// HISQ: U -> V = fat7(U) -> W = V (V^+ V)^(-1/2) in U(3) -> X = asqtad-like smearing of W, N = -(1 + eps)/24 W W W.
/// Several epsilons from one configuration: HisqLinks in codelets/gauge/smear/hisq.hpp, which makes W once.
StaggeredLinks hisq_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                          double naik_epsilon);

/// eps(am) = -27/40 a2 + 327/1120 a2^2 - 15607/268800 a2^3 - 73697/3942400 a2^4, a2 = (am)^2, with m of M = 2m + D: the
/// Naik term's correction that keeps a heavy quark's dispersion relation right at tree level. Source: SIMULATeQCD's
/// smearParameters.h. Throws Error(input) for a negative mass, and for one so large (above about 1.4) that the series
/// gives eps <= -1.
double naik_epsilon_of_mass(double mass);

}  // namespace quarkstar::smear
