#include "solvers/eigen/low_mode_average.hpp"

#include "codelets/contract/mesons.hpp"
#include "codelets/contract/staggered_mesons.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/eigen/low_mode_spinors.hpp"
#include "solvers/eigen/low_mode_staggered.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar {
namespace {

/// Below it is the rounding of A, whose norm is of order 10.
constexpr double least_eigenvalue = 1e-14;

}  // namespace

std::span<const contract::Channel> low_mode_channels(int components) {
  if (components == colour_components) return contract::StaggeredMesons::channels;
  return contract::Mesons::channels;
}

MesonTimes low_mode_gain(const LowModeMesons& mesons, std::size_t source) {
  MesonTimes gain = mesons.all;
  for (std::size_t c = 0; c < gain.size(); ++c)
    for (std::size_t t = 0; t < gain[c].size(); ++t) gain[c][t] -= mesons.of_sources[source][c][t];
  return gain;
}

std::vector<LowModeMesons> low_mode_mesons(Solver& solver, const EigenProjector& modes, std::span<const double> masses,
                                           std::span<const Source> sources, const std::function<void(double)>& progress) {
  for (const Source& source : sources)
    if (source.kind != Source::Kind::point || source.smearing) throw ShapeError("low_mode_mesons", "sources that are no points");
  const std::vector<double>& values = modes.values();
  runtime::mpi::Job::current().together([&] {
    const auto zero = std::find_if(values.begin(), values.end(), [](double value) { return !(value > least_eigenvalue); });
    if (zero == values.end()) return;
    throw Error(ErrorKind::input, Parameter("low-mode-average"),
                fmt::format("mode {} has the eigenvalue {:.3g}, which is zero but for rounding, and says nothing of the other parity",
                            zero - values.begin(), *zero),
                "leave it out");
  });
  const ModePairs pairs(modes, sources);
  if (modes.vectors().components() == colour_components) return staggered_low_modes(solver, pairs, masses, progress);
  if (masses.size() != 1) throw ShapeError("low_mode_mesons", "modes of one mass, and others");
  return {spinor_low_modes(solver, pairs, masses.front(), progress)};
}

double low_mode_bytes(const runtime::Block& block, int components) {
  return components == colour_components ? staggered_low_mode_bytes(block) : spinor_low_mode_bytes(block);
}

double low_mode_sum_bytes(int components, int times) {
  return components == colour_components ? staggered_low_mode_sum_bytes(times) : spinor_low_mode_sum_bytes(times);
}

}  // namespace quarkstar
