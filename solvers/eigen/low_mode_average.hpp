#pragma once
// Low-mode averages of mesons: what eigenvectors know of correlators, from single sources and from all sites.
#include "codelets/contract/channel.hpp"
#include "codelets/field/source.hpp"
#include "solvers/eigen/eigen_projector.hpp"

#include <functional>
#include <span>
#include <vector>

namespace quarkstar {

class Solver;

/// The mesons that there are averages of, for quarks of so many components: contract::StaggeredMesons, or contract::Mesons of spinors.
std::span<const contract::Channel> low_mode_channels(int components);

/// Numbers at t = 0..T-1 from the source, of each of low_mode_channels().
using MesonTimes = std::vector<std::vector<double>>;

/// C_LL of one mass, at momentum zero.
struct LowModeMesons {
  MesonTimes all;                      ///< the mean over all sites of the lattice as sources
  std::vector<MesonTimes> of_sources;  ///< of each source
};

/// What averages have more than mesons of a source, by its number: C_LL of all sites - C_LL of the source.
MesonTimes low_mode_gain(const LowModeMesons& mesons, std::size_t source);

/// C_LL of each mass: mesons of that part S_L of the propagator that eigenvectors of the even-odd operator make (low_mode_staggered.hpp,
/// low_mode_spinors.hpp). Then C - C_LL of its source + C_LL of all has the same average over sources as C, whatever the eigenvectors are,
/// because both C_LL are of the same ones; the better they are, the smaller its variance. Exact sums: the bits depend on eigenvectors,
/// links and masses; not on cut, policy, device or ranks. Sources: T. DeGrand and S. Schaefer, hep-lat/0401011; L. Giusti et al.,
/// hep-lat/0402002. Memory: low_mode_bytes(). solver: of the operator whose eigenvectors these are, on the lattice of the eigenvectors.
/// masses: of spinors the eigenvectors' alone. sources: points. progress: told which part is done; what it throws ends the work. Waits.
/// Collective. Throws Error(input) for an eigenvalue that rounding cannot tell from zero, of which nothing follows for the other parity.
std::vector<LowModeMesons> low_mode_mesons(Solver& solver, const EigenProjector& modes, std::span<const double> masses,
                                           std::span<const Source> sources, const std::function<void(double done)>& progress = {});

/// Bytes that low_mode_mesons() takes on a block besides solver and eigenvectors, and those of the sums that each thread keeps. Faces of
/// the operator for low_mode_group vectors are not in it.
double low_mode_bytes(const runtime::Block& block, int components);
double low_mode_sum_bytes(int components, int times);

}  // namespace quarkstar
