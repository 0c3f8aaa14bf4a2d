#include "apps/bench_staggered.hpp"

#include "apps/device_plan.hpp"
#include "apps/solve_plan.hpp"
#include "codelets/heatbath/start.hpp"
#include "codelets/staggered/colour_transfer.hpp"
#include "codelets/staggered/dslash.hpp"
#include "solvers/staggered_solver.hpp"

#include <algorithm>

namespace quarkstar::app {

StaggeredBench::StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action, const Coord& blocks)
    : session_(session),
      decomposition_(lattice, block_grid(blocks, lattice, session.block_owners(), action == "naive" ? 2 : 4), session.block_owners()),
      links_(make_links(session, decomposition_, action)) {}

smear::StaggeredLinks StaggeredBench::make_links(runtime::Session& session, const runtime::Decomposition& decomposition,
                                                 const std::string& action) {
  const HostGauge gauge = heatbath::hot_start(decomposition.lattice(), 1, session.cpu_team());
  if (action == "naive") return smear::naive_links(decomposition, gauge, antiperiodic_in_time);
  if (action == "asqtad") return smear::asqtad_links(decomposition, gauge, antiperiodic_in_time, 1);
  return smear::hisq_links(decomposition, gauge, antiperiodic_in_time, 0);
}

HostColour StaggeredBench::wave() const {
  HostColour field(decomposition_.lattice());
  for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = wavy_number(i);
  return field;
}

DslashTiming StaggeredBench::time(Precision precision, int long_reals, int vectors, const StaggeredTuning& tuning, int repetitions) const {
  const auto lattice = std::make_shared<Lattice>(decomposition_, precision, periodic, 16, links_.has_long ? 3 : 1, tuning.tile);
  const staggered::Links even(lattice, 0, links_, long_reals), odd(lattice, 1, links_, long_reals);
  staggered::Dslash dslash(even, odd, vectors);
  dslash.set_launch(tuning.launch);
  const staggered::ColourField on_even(lattice, 0, vectors), on_odd(lattice, 1, vectors);
  const std::vector<HostColour> waves(static_cast<std::size_t>(vectors), wave());
  staggered::load_vectors(on_odd, waves);
  session_.wait_all();
  const PairTiming times = time_pairs(session_, owner_count(decomposition_), repetitions, [&] {
    dslash.apply(on_even, on_odd, {.scale = staggered::same_for_all(0.1)});
    dslash.apply(on_odd, on_even, {.scale = staggered::same_for_all(0.1)});
  });
  const runtime::Cost cost = dslash.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {});
  return {cost.flops / times.best * 1e-9, cost.flops / times.median * 1e-9, cost.bytes / times.best * 1e-9, times.microseconds_per_task,
          times.tasks_per_application};
}

SolverTiming StaggeredBench::time_cg(Precision precision, int long_reals, int vectors, int iterations, int repetitions) const {
  SolverSettings settings;
  settings.solver = "cg";
  settings.precision = precision;
  settings.link_reals = long_reals;
  settings.tolerance = 1e-14;  // not reached
  settings.max_iterations = iterations;
  StaggeredSolver solver(decomposition_, links_, settings);
  const std::vector<HostColour> sources(static_cast<std::size_t>(vectors), wave());
  const std::vector<double> masses(sources.size(), 1e-3);
  SolverTiming timing;
  std::vector<double> times;
  const auto solve_once = [&] {
    std::vector<HostColour> solutions(sources.size(), HostColour(decomposition_.lattice()));
    const runtime::Totals before = session_.events().totals();
    const std::vector<SolveResult> results = solver.solve(sources, masses, solutions);
    timing.iterations = results[0].iterations;
    double seconds = 0;
    timing.flops = timing.bytes = timing.kernels = 0;
    for (const SolveResult& result : results) {
      seconds += result.seconds;
      timing.flops += result.flops / timing.iterations;
      timing.bytes += result.bytes / timing.iterations;
      timing.kernels += static_cast<double>(result.tasks) / timing.iterations;
    }
    timing.tasks = static_cast<double>(session_.events().totals().submitted - before.submitted) / timing.iterations;
    return seconds * 1e6 / timing.iterations;
  };
  solve_once();
  for (int r = 0; r < repetitions; ++r) times.push_back(solve_once());
  std::sort(times.begin(), times.end());
  timing.best_us = times.front();
  timing.median_us = times[times.size() / 2];
  time_parts(timing, session_, decomposition_, [&] { solve_once(); });
  return timing;
}

}  // namespace quarkstar::app
