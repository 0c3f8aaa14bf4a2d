#include "apps/run/measure_owner.hpp"

#include "apps/bench/bench_dslash.hpp"
#include "apps/bench/bench_staggered.hpp"
#include "codelets/actions/staggered/colour_field.hpp"
#include "codelets/field/fields.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/smear/coefficients.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar::app {
namespace {

constexpr int repetitions = 3, widest_measured = 32;
constexpr double most_sites_measured = 1 << 19;

/// Bytes of links, and of fields in and out, of a site.
double wilson_site(Precision precision, int link_reals) {
  return 8.0 * link_reals * static_cast<double>(bytes_of(precision)) + static_cast<double>(site_bytes(precision, SpinorField::reals));
}

Coord part_for(const runtime::Session& session, int worker, const Coord& lattice, double bytes_a_site, int widest, double most_sites) {
  if (worker < session.gpu_count())
    most_sites = std::min(most_sites, 0.5 * static_cast<double>(session.device_memory(worker)) / bytes_a_site);
  Coord part = lattice;
  if (static_cast<double>(volume(part)) <= most_sites) return part;
  constexpr int unit = 4;
  for (int& extent : part) extent = std::min(extent, widest);
  for (const std::size_t mu : {3, 2, 1, 0})
    while (static_cast<double>(volume(part)) > most_sites && part[mu] > unit) part[mu] -= part[mu] % unit == 0 ? unit : 2;
  return part;
}

}  // namespace

Coord measured_part(const runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals, int widest,
                    double most_sites) {
  return part_for(session, worker, lattice, wilson_site(precision, link_reals), widest, most_sites);
}

double measure_owner(runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals) {
  const Coord part = measured_part(session, worker, lattice, precision, link_reals, widest_measured, most_sites_measured);
  const wilson::TuningProblem problem{runtime::Decomposition::uncut(part, worker), precision, link_reals};
  // Tuning a part that no solve will use would take longer than the measurement, and moves the speed by a few percent only.
  BenchFields fields;
  return time_dslash(session, problem, wilson::default_tuning(problem), repetitions, fields).best_gflops;
}

double measure_staggered_owner(runtime::Session& session, int worker, const Coord& lattice, const StaggeredProblem& problem) {
  const double links = 8.0 * static_cast<double>(link_bytes(problem.precision, 18) +
                                                 (problem.hops_far ? link_bytes(problem.precision, problem.long_reals) : 0));
  const double site = links + problem.vectors * static_cast<double>(site_bytes(problem.precision, staggered::ColourField::reals));
  const Coord piece = part_for(session, worker, lattice, site, widest_measured, most_sites_measured);
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
  return bench
      .time(bench.problem(whole, problem.precision, problem.long_reals, problem.vectors), {}, staggered::default_launch(problem.vectors),
            repetitions)
      .best_gflops;
}

}  // namespace quarkstar::app
