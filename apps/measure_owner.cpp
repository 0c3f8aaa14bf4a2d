#include "apps/measure_owner.hpp"

#include "apps/bench_dslash.hpp"
#include "codelets/lattice/fields.hpp"

#include <algorithm>

namespace quarkstar::app {
namespace {

/// A piece with the lattice's proportions as far as possible: enough sites to be out of every cache, few enough to be quick.
Coord measured_piece(Coord lattice, double most_sites) {
  constexpr int widest = 32, unit = 4;
  for (int& extent : lattice) extent = std::min(extent, widest);
  for (const std::size_t mu : {3, 2, 1, 0})
    while (static_cast<double>(volume(lattice)) > most_sites && lattice[mu] > unit) lattice[mu] -= lattice[mu] % unit == 0 ? unit : 2;
  return lattice;
}

}  // namespace

double measure_owner(runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals) {
  double most_sites = 1 << 19;
  if (worker < session.gpu_count()) {
    const double site = 8.0 * link_reals * static_cast<double>(bytes_of(precision)) + static_cast<double>(site_bytes(precision, SpinorField::reals));
    most_sites = std::min(most_sites, 0.5 * static_cast<double>(session.device_memory(worker)) / site);
  }
  const Coord piece = measured_piece(lattice, most_sites);
  const wilson::TuningProblem problem{runtime::Decomposition::uncut(piece, worker), precision, link_reals};
  constexpr int repetitions = 3;
  // Tuning a piece that no solve will use would take longer than the measurement, and moves the speed by a few percent only.
  BenchFields fields;
  return time_dslash(session, problem, wilson::default_tuning(problem), repetitions, fields).best_gflops;
}

}  // namespace quarkstar::app
