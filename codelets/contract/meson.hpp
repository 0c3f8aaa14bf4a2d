#pragma once
// Meson two-point functions from a propagator: its twelve columns S(x; spin, colour) = M^-1 source(spin, colour).
#include "codelets/field/host_field.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar {

/// A meson's interpolating field: psibar Gamma psi with Gamma = g_5 (pion) or g_i (rho).
enum class Meson { pion, rho_x, rho_y, rho_z };
inline constexpr std::array<Meson, 4> all_mesons{Meson::pion, Meson::rho_x, Meson::rho_y, Meson::rho_z};

/// "pion", "rho_x", "rho_y", "rho_z".
std::string_view name_of(Meson meson);

/// Zero-momentum correlator C(t) of degenerate quarks, t = 0..T-1 counted from the source's time slice:
///   pion   C(t) = sum_x Tr[S S^+],     rho_i   C(t) = sum_x Re Tr[g_i S g_i g_5 S^+ g_5]
/// with hermitian gammas, the trace over spin and colour, S = M^-1 source without further factors.
/// columns: 12 fields of equal extents, column 3 spin + colour of the source, DeGrand-Rossi basis, each with a point or
/// wall source on time slice source_time. A wall source here is not gauge fixed: its correlator contains, besides the
/// wanted terms (quark and antiquark from one site), terms that average to zero over gauge transformations and add
/// noise. Sites are added in runtime::BinnedSum: the result depends on the fields' bits alone. Cost: about 1370 flop/site; reads 12 x 192
/// bytes/site. Runs on the calling thread. Throws ShapeError unless there are 12 columns of equal extents.
std::vector<double> meson_correlator(Meson meson, std::span<const HostField> columns, int source_time);

/// The same for fields that hold a box of a lattice with `times` time slices: the box's share of each C(t). Merged over boxes that make up
/// the lattice it has the correlator's bits.
std::vector<runtime::BinnedSum> meson_sums(Meson meson, std::span<const HostField> columns, int source_time, int times);

}  // namespace quarkstar
