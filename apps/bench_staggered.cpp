#include "apps/bench_staggered.hpp"

#include "apps/device_plan.hpp"
#include "apps/solve_plan.hpp"
#include "codelets/heatbath/start.hpp"
#include "codelets/staggered/colour_transfer.hpp"
#include "codelets/staggered/dslash.hpp"

namespace quarkstar::app {

StaggeredBench::StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action)
    : session_(session),
      decomposition_(lattice, block_grid({}, lattice, session.block_owners(), action == "naive" ? 1 : 3), session.block_owners()),
      links_(make_links(decomposition_, action)) {}

smear::StaggeredLinks StaggeredBench::make_links(const runtime::Decomposition& decomposition, const std::string& action) {
  const HostGauge gauge = heatbath::cold_start(decomposition.lattice());  // speed does not depend on the links
  if (action == "naive") return smear::naive_links(decomposition, gauge, antiperiodic_in_time);
  if (action == "asqtad") return smear::asqtad_links(decomposition, gauge, antiperiodic_in_time, 1);
  return smear::hisq_links(decomposition, gauge, antiperiodic_in_time, 0);
}

DslashTiming StaggeredBench::time(Precision precision, int long_reals, int vectors, int repetitions) const {
  const auto lattice = std::make_shared<Lattice>(decomposition_, precision, periodic, 16, links_.has_long ? 3 : 1);
  const staggered::Links even(lattice, 0, links_, long_reals), odd(lattice, 1, links_, long_reals);
  staggered::Dslash dslash(even, odd, vectors);
  const staggered::ColourField on_even(lattice, 0, vectors), on_odd(lattice, 1, vectors);
  HostColour wave(decomposition_.lattice());
  for (std::size_t i = 0; i < wave.data.size(); ++i) wave.data[i] = wavy_number(i);
  const std::vector<HostColour> waves(static_cast<std::size_t>(vectors), wave);
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

}  // namespace quarkstar::app
