#pragma once
// Low-mode averages of staggered mesons.
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/eigen/mode_pairs.hpp"

namespace quarkstar {

/// C_LL(t; y) = sum_x s(x) s(y) |S_L(x, y)|^2, s the signs of the channel. An eigenvector v_i of -D_eo D_oe with lambda_i^2 makes two of D,
/// with +-i lambda_i; with V_i = v_i on its parity and D v_i on the other
///   S_L(x, y) = sum_i g_i V_i(x) V_i^+(y),  n_i = 4 m^2 + lambda_i^2,
///   g_i = 2m / n_i on the parity of v_i, 2m / (n_i lambda_i^2) on the other, +-1 / n_i between the two,
/// so that C_LL(t; y) = s(y) sum_ij g_i g_j Re[M_ij^*(t_y + t) V_i^+(y) V_j(y)] with M_ij(t) = sum_x s(x) V_i^+(x) V_j(x) over one parity
/// of a time slice, and the mean over y is a sum over M_ij(t_y). Cost for N eigenvectors: about 350 flop per site and pair i <= j; a D v_i
/// for every low_mode_group pairs; 16 T^2 flop on the host per pair, sign and mass.
std::vector<LowModeMesons> staggered_low_modes(Solver& solver, const ModePairs& modes, std::span<const double> masses,
                                               const std::function<void(double)>& progress);
double staggered_low_mode_bytes(const runtime::Block& block);
double staggered_low_mode_sum_bytes(int times);

}  // namespace quarkstar
