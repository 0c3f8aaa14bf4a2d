#include "apps/bench/bench_dslash.hpp"

#include "apps/run/measure_owner.hpp"
#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "runtime/simulate/simulate.hpp"

#include <algorithm>

namespace quarkstar::app {

BenchFields::OfLattice& BenchFields::of(const Coord& lattice) {
  constexpr std::size_t most = 2;
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const OfLattice& of) { return of.lattice == lattice; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
  } else {
    if (kept_.size() == most) kept_.pop_back();
    kept_.emplace_front().lattice = lattice;
  }
  return kept_.front();
}

const HostGauge& BenchFields::links(const Coord& lattice, const runtime::Team& team) {
  HostGauge& links = of(lattice).links;
  if (links.data.empty()) links = heatbath::hot_start(lattice, 1, team);
  return links;
}

const HostSpinor& BenchFields::wave(const Coord& lattice, const runtime::Team& team) {
  HostSpinor& wave = of(lattice).wave;
  if constexpr (runtime::simulate::active) {
    wave.extents = lattice;  // no data, as heatbath::hot_start()
  } else if (wave.data.empty()) {
    wave = HostSpinor(lattice);
    team.for_range(static_cast<std::int64_t>(wave.data.size()), [&wave](std::int64_t begin, std::int64_t end, int) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) wave.data[i] = wavy_number(i);
    });
  }
  return wave;
}

PlannedLattice plan_dslash(runtime::Session& session, const Coord& lattice, Precision precision, int link_reals, const ChooseTuning& tuning,
                           int repetitions, BenchFields& fields) {
  const int workers = session.block_owners();
  if (session.gpu_count() == 0) return {runtime::Decomposition(lattice, {1, 1, 1, workers}, workers), {}};
  const auto sites = static_cast<double>(volume(lattice));
  const auto slice_sites = [&lattice, sites](int mu) { return sites / lattice[static_cast<std::size_t>(mu)]; };
  const auto site =
      static_cast<double>(static_cast<std::size_t>(8 * link_reals) * bytes_of(precision) + site_bytes(precision, SpinorField::reals));
  const PlanningProblem problem{
      .lattice = lattice,
      .slice_bytes = [=](int mu) { return slice_sites(mu) * site; },
      .face_bytes = [=](int mu) { return slice_sites(mu) / 2 * 12 * static_cast<double>(computed_bytes(precision)); },
      .thin_speed = thin_speed(precision)};
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) {
    constexpr int widest = 48;
    constexpr double most_sites = 1 << 21;
    const Coord part = measured_part(session, worker, lattice, precision, link_reals, widest, most_sites);
    const wilson::TuningProblem alone{runtime::Decomposition::uncut(part, worker), precision, link_reals};
    return time_dslash(session, alone, tuning(alone), repetitions, fields).best_gflops;
  });
}

DslashTiming time_dslash(runtime::Session& session, const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning,
                         int repetitions, BenchFields& fields, const runtime::HardwareCounters* counters, std::optional<int> most_lanes) {
  const Coord& extents = problem.decomposition.lattice();
  const auto lattice =
      std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, most_lanes, 1, tuning.tile);
  LinkField even(lattice, 0, problem.link_reals), odd(lattice, 1, problem.link_reals);
  transfer::load_links(even, odd, fields.links(extents, session.cpu_team()));
  wilson::Hopping hopping(even, odd);
  hopping.set_block_threads(tuning.block_threads);
  hopping.set_memory_access(tuning.memory);
  const SpinorField on_even(lattice, 0), on_odd(lattice, 1);
  transfer::load_spinor(on_odd, fields.wave(extents, session.cpu_team()));
  session.wait_all();
  // Alternating parities, as in a solve: one pair of applications reads every link once.
  const int owners = owner_count(problem.decomposition);
  const PairTiming times = time_pairs(
      session, owners, repetitions,
      [&] {
        hopping.apply(on_even, on_odd, {.scale = 0.1});
        hopping.apply(on_odd, on_even, {.scale = 0.1});
      },
      counters);
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const double bytes = hopping.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {}).bytes / sites;
  const auto spinor = static_cast<double>(site_bytes(problem.precision, SpinorField::reals));
  DslashTiming timing = dslash_timing(times, {1320, bytes, spinor, 2 * sites * (bytes - spinor)}, sites, owners);
  timing.lanes = lattice->lanes().lanes;
  return timing;
}

}  // namespace quarkstar::app
