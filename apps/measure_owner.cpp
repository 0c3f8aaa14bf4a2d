#include "apps/measure_owner.hpp"

#include "apps/bench_dslash.hpp"
#include "codelets/lattice/fields.hpp"

#include <algorithm>

namespace quarkstar::app {
Coord measured_part(const runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals, int widest,
                    double most_sites) {
  if (worker < session.gpu_count()) {
    const double site = 8.0 * link_reals * static_cast<double>(bytes_of(precision)) + static_cast<double>(site_bytes(precision, SpinorField::reals));
    most_sites = std::min(most_sites, 0.5 * static_cast<double>(session.device_memory(worker)) / site);
  }
  Coord part = lattice;
  if (static_cast<double>(volume(part)) <= most_sites) return part;
  constexpr int unit = 4;
  for (int& extent : part) extent = std::min(extent, widest);
  for (const std::size_t mu : {3, 2, 1, 0})
    while (static_cast<double>(volume(part)) > most_sites && part[mu] > unit) part[mu] -= part[mu] % unit == 0 ? unit : 2;
  return part;
}

double measure_owner(runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals) {
  constexpr int widest = 32;
  constexpr double most_sites = 1 << 19;
  const Coord part = measured_part(session, worker, lattice, precision, link_reals, widest, most_sites);
  const wilson::TuningProblem problem{runtime::Decomposition::uncut(part, worker), precision, link_reals};
  constexpr int repetitions = 3;
  // Tuning a part that no solve will use would take longer than the measurement, and moves the speed by a few percent only.
  BenchFields fields;
  return time_dslash(session, problem, wilson::default_tuning(problem), repetitions, fields).best_gflops;
}

}  // namespace quarkstar::app
