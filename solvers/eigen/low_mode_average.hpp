#pragma once
// Low-mode averages of staggered mesons: what eigenvectors know of correlators, from single sources and from all sites.
#include "codelets/contract/staggered_mesons.hpp"
#include "codelets/field/source.hpp"
#include "solvers/eigen/eigen_projector.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace quarkstar {

class Solver;

/// Numbers at t = 0..T-1 from the source, of each channel of contract::StaggeredMesons.
using MesonTimes = std::array<std::vector<double>, contract::StaggeredMesons::numbers>;

/// C_LL of one mass, at momentum zero.
struct LowModeMesons {
  MesonTimes all;                      ///< the mean over all sites of the lattice as sources
  std::vector<MesonTimes> of_sources;  ///< of each source
};

/// The part of local staggered mesons that eigenvectors make, C_LL(t; y) = sum_x s(x) s(y) |S_L(x, y)|^2, s the signs of the channel. An
/// eigenvector v_i of -D_eo D_oe with lambda_i^2 makes two of D, with +-i lambda_i; with V_i = v_i on its parity and D v_i on the other
///   S_L(x, y) = sum_i g_i V_i(x) V_i^+(y),  n_i = 4 m^2 + lambda_i^2,
///   g_i = 2m / n_i on the parity of v_i, 2m / (n_i lambda_i^2) on the other, +-1 / n_i between the two,
/// so that C_LL(t; y) = s(y) sum_ij g_i g_j Re[M_ij^*(t_y + t) V_i^+(y) V_j(y)] with M_ij(t) = sum_x s(x) V_i^+(x) V_j(x) over one parity
/// of a time slice, and the mean over y is a sum over M_ij(t_y). Then C - C_LL of its source + C_LL of all has the same average over
/// sources as C, whatever the eigenvectors are, because both C_LL are of the same ones; the better they are, the smaller its variance. Cost
/// for N eigenvectors: about 350 flop per site and pair i <= j, in exact sums; a D v_i for every low_mode_group pairs; 16 T^2 flop on the
/// host per pair, sign and mass. Memory: low_mode_bytes(). The bits depend on eigenvectors, links and masses; not on cut, policy, device or
/// ranks. Sources: T. DeGrand and S. Schaefer, hep-lat/0401011; L. Giusti et al., hep-lat/0402002. solver: of the operator whose
/// eigenvectors these are, on the lattice of the eigenvectors. sources: points. progress: told which part is done; what it throws ends the
/// work. Waits. Collective. Throws Error(input) for an eigenvalue that rounding cannot tell from zero, for which D v_i is no eigenvector.
std::vector<LowModeMesons> low_mode_mesons(Solver& solver, const EigenProjector& modes, std::span<const double> masses,
                                           std::span<const Source> sources, const std::function<void(double done)>& progress = {});

/// Modes whose products with as many others are computed together, and that M is applied to.
inline constexpr int low_mode_group = 8;
/// Bytes that low_mode_mesons() takes on a block besides solver and eigenvectors, and those of the sums that each thread keeps. Faces of
/// the operator for a group are not in it.
double low_mode_bytes(const runtime::Block& block);
double low_mode_sum_bytes(int times);

}  // namespace quarkstar
