#pragma once
// Staggered fermions: naive, asqtad and HISQ links, and the operator in MILC's phases (docs/conventions.md, sections 5 and 4).
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/lattice.hpp"

namespace quarkstar::reference {

/// MILC: eta_x = (-)^t, eta_y = (-)^(t+x), eta_z = (-)^(t+x+y), eta_t = 1.
double staggered_phase(const Coord& x, int mu);

/// Weights of the paths that make up a smeared link, for links without staggered phases.
struct SmearingCoefficients {
  double one_link;
  double three_staple;
  double five_staple;
  double seven_staple;
  double lepage;
};
SmearingCoefficients fat7_coefficients();
SmearingCoefficients hisq_level2_coefficients(double epsilon);
SmearingCoefficients asqtad_coefficients(double u0);

/// Sum over all paths around each link: 1 one-link, 6 three-, 24 five-, 48 seven-staples, 6 Lepage.
HostGauge smear(const HostGauge& gauge, const SmearingCoefficients& coefficients);

/// W = V (V^+ V)^{-1/2} for every link: the nearest unitary matrix.
HostGauge unitarize(const HostGauge& gauge);

/// N_mu(x) = coefficient * W_mu(x) W_mu(x+mu) W_mu(x+2mu).
HostGauge naik_links(const HostGauge& gauge, double coefficient);

/// X for one hop and N for three hops; neither contains the staggered phases.
struct StaggeredLinks {
  HostGauge fat;
  HostGauge naik;
};
/// `gauge` has the boundary folded in already (with_boundary()), because it is smeared with its phase.
StaggeredLinks naive_links(const HostGauge& gauge);
StaggeredLinks asqtad_links(const HostGauge& gauge, double u0);
/// U -> V = fat7(U) -> W = unitarize(V) -> X = level2(W), N = -(1+eps)/24 W W W.
StaggeredLinks hisq_links(const HostGauge& gauge, double epsilon);

/// eps(am) of the HISQ action: -27/40 a2 + 327/1120 a2^2 - 15607/268800 a2^3 - 73697/3942400 a2^4, a2 = (am)^2.
double hisq_epsilon(double mass);

/// D chi(x) = sum_mu eta_mu(x) [X_mu(x) chi(x+mu) - X_mu^+(x-mu) chi(x-mu)
///                              + N_mu(x) chi(x+3mu) - N_mu^+(x-3mu) chi(x-3mu)];  D^+ = -D.
Field staggered_dslash(const StaggeredLinks& links, const Field& chi);

/// M chi = 2m chi + D chi.
Field staggered(const StaggeredLinks& links, double mass, const Field& chi);
/// M^+ chi = 2m chi - D chi.
Field staggered_dagger(const StaggeredLinks& links, double mass, const Field& chi);
/// Even-odd normal operator on either parity: (4m^2 - D^2) chi, hermitian positive.
Field staggered_normal(const StaggeredLinks& links, double mass, const Field& chi);

}  // namespace quarkstar::reference
