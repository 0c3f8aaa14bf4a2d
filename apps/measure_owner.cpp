#include "apps/measure_owner.hpp"

#include "apps/bench_dslash.hpp"
#include "apps/bench_staggered.hpp"
#include "codelets/heatbath/start.hpp"
#include "codelets/lattice/fields.hpp"
#include "codelets/smear/coefficients.hpp"
#include "codelets/staggered/colour_field.hpp"

#include <algorithm>
#include <utility>

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

/// The piece that one worker is measured on; site_bytes: of links, and of fields in and out.
Coord piece_for(const runtime::Session& session, int worker, const Coord& lattice, double site_bytes) {
  double most_sites = 1 << 19;
  if (worker < session.gpu_count()) most_sites = std::min(most_sites, 0.5 * static_cast<double>(session.device_memory(worker)) / site_bytes);
  return measured_piece(lattice, most_sites);
}

constexpr int repetitions = 3;

}  // namespace

double measure_owner(runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals) {
  const double site = 8.0 * link_reals * static_cast<double>(bytes_of(precision)) + static_cast<double>(site_bytes(precision, SpinorField::reals));
  const Coord piece = piece_for(session, worker, lattice, site);
  const wilson::TuningProblem problem{runtime::Decomposition::uncut(piece, worker), precision, link_reals};
  // Tuning a piece that no solve will use would take longer than the measurement, and moves the speed by a few percent only.
  return time_dslash(session, problem, wilson::default_tuning(problem), repetitions).best_gflops;
}

double measure_staggered_owner(runtime::Session& session, int worker, const Coord& lattice, const StaggeredProblem& problem) {
  const double links = 8.0 * static_cast<double>(link_bytes(problem.precision, 18) + (problem.hops_far ? link_bytes(problem.precision, problem.long_reals) : 0));
  const double site = links + problem.vectors * static_cast<double>(site_bytes(problem.precision, staggered::ColourField::reals));
  const Coord piece = piece_for(session, worker, lattice, site);
  // Links of any kind will do that have the form: SU(3) times the weight.
  smear::StaggeredLinks made;
  made.fat = heatbath::hot_start(piece, 1, session.cpu_team());
  if (problem.hops_far) {
    made.has_long = true;
    made.long_scale = smear::hisq_naik_weight(0);
    made.long_links = made.fat;
    for (double& real : made.long_links.data) real *= made.long_scale;
  }
  const runtime::Decomposition whole = runtime::Decomposition::uncut(piece, worker);
  const StaggeredBench bench(session, whole, std::move(made));
  return bench.time(bench.problem(whole, problem.precision, problem.long_reals, problem.vectors), {}, {}, repetitions).best_gflops;
}

}  // namespace quarkstar::app
