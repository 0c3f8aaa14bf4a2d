#pragma once
// Staggered meson two-point functions from a propagator: its three columns G(x; colour) = M^-1 source(colour).
#include "codelets/field/host_field.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar {

/// Local mesons, named as MILC does. The correlators hold, besides the named state, its opposite-parity partner with alternating sign
/// (pion5 has none).
enum class StaggeredMeson { pion5, pion05, rho_x, rho_y, rho_z, rho };
inline constexpr std::array<StaggeredMeson, 6> all_staggered_mesons{StaggeredMeson::pion5, StaggeredMeson::pion05, StaggeredMeson::rho_x,
                                                                    StaggeredMeson::rho_y, StaggeredMeson::rho_z,  StaggeredMeson::rho};

/// "pion5", "pion05", "rho_x", "rho_y", "rho_z", "rho".
std::string_view name_of(StaggeredMeson meson);

/// C(t) = sum over space and source colours of phase(x) |G(x)|^2, x and t = 0..T-1 counted from `origin`, a point of the source; G = M^-1
/// source with M = 2m + D, no further factor. phase: pion5 1 (the Goldstone pion, gamma_5); pion05 (-1)^(x+y+z) (gamma_0 gamma_5); rho_i
/// (-1)^(x_i); rho the mean of rho_x, rho_y, rho_z. The phase is that of the sink only, so the source has to have phase 1 itself: a point,
/// or points an even way apart in every direction; of other sources pion5 alone has a meaning. Sites are added in
/// runtime::BinnedSum: the result depends on the fields' bits alone. Throws ShapeError unless there are 3 columns of equal extents.
std::vector<double> staggered_correlator(StaggeredMeson meson, std::span<const HostField> columns, const Coord& origin);

/// The same for fields that hold a box of a lattice with `times` time slices: the box's share of each C(t). Merged over boxes that make up
/// the lattice it has the correlator's bits.
std::vector<runtime::BinnedSum> staggered_sums(StaggeredMeson meson, std::span<const HostField> columns, const Coord& origin, int times);

}  // namespace quarkstar
