#include "apps/bench_dslash.hpp"

#include "apps/measure_owner.hpp"

#include "codelets/heatbath/start.hpp"
#include "codelets/transfer/transfer.hpp"
#include "codelets/wilson/hopping.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::app {

HostSpinor wavy_spinor(const Coord& lattice) {
  HostSpinor psi;
  psi.extents = lattice;
  if constexpr (runtime::simulate::active) return psi;  // as heatbath::hot_start()
  psi = HostSpinor(lattice);
  for (std::size_t i = 0; i < psi.data.size(); ++i) psi.data[i] = wavy_number(i);
  return psi;
}

PlannedLattice plan_dslash(runtime::Session& session, const Coord& lattice, Precision precision, int link_reals, const ChooseTuning& tuning,
                           int repetitions) {
  const int workers = session.block_owners();
  if (session.gpu_count() == 0) return {runtime::Decomposition(lattice, {1, 1, 1, workers}, workers), {}};
  const auto sites = static_cast<double>(volume(lattice));
  const auto slice_sites = [&lattice, sites](int mu) { return sites / lattice[static_cast<std::size_t>(mu)]; };
  const auto site = static_cast<double>(static_cast<std::size_t>(8 * link_reals) * bytes_of(precision) + site_bytes(precision, SpinorField::reals));
  const PlanningProblem problem{
      .lattice = lattice,
      .slice_bytes = [=](int mu) { return slice_sites(mu) * site; },
      .face_bytes = [=](int mu) { return slice_sites(mu) / 2 * 12 * static_cast<double>(computed_bytes(precision)); }};
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) {
    const bool fits = worker >= session.gpu_count() || sites * site < 0.8 * static_cast<double>(session.device_memory(worker));
    if (!fits) return measure_owner(session, worker, lattice, precision, link_reals);
    const wilson::TuningProblem alone{runtime::Decomposition::uncut(lattice, worker), precision, link_reals};
    return time_dslash(session, alone, tuning(alone), repetitions).best_gflops;
  });
}

DslashTiming time_dslash(runtime::Session& session, const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning, int repetitions) {
  const Coord& extents = problem.decomposition.lattice();
  const auto lattice = std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, 16, 1, tuning.tile);
  LinkField even(lattice, 0, problem.link_reals), odd(lattice, 1, problem.link_reals);
  {
    const HostGauge gauge = heatbath::hot_start(extents, 1, session.cpu_team());
    transfer::load_links(even, gauge);
    transfer::load_links(odd, gauge);
    even.freeze();
    odd.freeze();
  }
  wilson::Hopping hopping(even, odd);
  hopping.set_block_threads(tuning.block_threads);
  const SpinorField on_even(lattice, 0), on_odd(lattice, 1);
  {
    const HostSpinor psi = wavy_spinor(extents);
    transfer::load_spinor(on_odd, psi);
    session.wait_all();
  }
  // Alternating parities, as in a solve: one pair of applications reads every link once.
  const PairTiming times = time_pairs(session, owner_count(problem.decomposition), repetitions, [&] {
    hopping.apply(on_even, on_odd, {.scale = 0.1});
    hopping.apply(on_odd, on_even, {.scale = 0.1});
  });
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const double bytes = hopping.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {}).bytes;
  return {1320 * sites / times.best * 1e-9,   1320 * sites / times.median * 1e-9, bytes / times.best * 1e-9,
          times.microseconds_per_task, times.tasks_per_application};
}

}  // namespace quarkstar::app
