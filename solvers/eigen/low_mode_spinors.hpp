#pragma once
// Low-mode averages of mesons of spinors.
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/eigen/mode_pairs.hpp"

namespace quarkstar {

/// Mesons of contract::Mesons of the part of M^-1 that eigenvectors v_i of Mh^+ Mh, with lambda_i, make, Mh the even-odd system on parity
/// p:
///   S_L(x, y) = sum_i a_i(x) b_i^+(y) / lambda_i,
/// a_i = v_i on p and -M_qq^-1 M_qp v_i on the other parity q, of which M a_i is zero on q; b_i = w_i on p and -M_qq^-+ M_pq^+ w_i on q, of
/// which M^+ b_i is lambda_i v_i on p and zero on q; w_i = Mh v_i, and M_pp^-+ Mh v_i where Mh is the symmetric system. All modes make M^-1
/// but for M_qq^-1, which leads from a site to itself. Tr[G S_L G g_5 S_L^+ g_5] is then for G with g_5 G = K, G g_5 = K'
///   C_LL(t; y) = s sum_ij Re[A_ij(t_y + t) (b_i^+(y) K' b_j(y))^*] / (lambda_i lambda_j),   A_ij(t) = sum_x a_i^+(x) K a_j(x) on a slice,
/// K^+ = s K, and its mean over y is a sum over B_ij(t_y), of b as A of a. Products of spins, 16 for each pair, serve all mesons: those of
/// contract::ModeProductsOfAllSites with spinors as four colour vectors. Cost for N eigenvectors: about 2 kflop per site and pair i <= j;
/// Mh and two hops of each mode for every low_mode_group pairs; about 4 T^2 flop on the host per pair and meson.
LowModeMesons spinor_low_modes(Solver& solver, const ModePairs& modes, double mass, const std::function<void(double)>& progress);
double spinor_low_mode_bytes(const runtime::Block& block);
double spinor_low_mode_sum_bytes(int times);

}  // namespace quarkstar
