#include "apps/bench_dslash.hpp"

#include <cmath>
#include <complex>

#include "apps/bench_timing.hpp"
#include "codelets/heatbath/start.hpp"
#include "codelets/staggered/colour_transfer.hpp"
#include "codelets/staggered/dslash.hpp"
#include "codelets/transfer/transfer.hpp"
#include "codelets/wilson/hopping.hpp"

namespace quarkstar::app {
namespace {

/// Any non-zero field will do, but zeros would run faster than real data on some machines.
std::complex<double> wavy_number(std::size_t i) {
  return {std::sin(0.37 * static_cast<double>(i) + 0.2), std::cos(0.23 * static_cast<double>(i) + 0.5)};
}

HostSpinor wavy_spinor(const Coord& lattice) {
  HostSpinor psi(lattice);
  for (std::size_t i = 0; i < psi.data.size(); ++i) psi.data[i] = wavy_number(i);
  return psi;
}

}  // namespace

DslashTiming time_dslash(runtime::Session& session, const DslashCase& c) {
  const int workers = session.block_owners();
  const runtime::Decomposition decomposition(c.lattice, {1, 1, 1, workers}, workers);
  const auto lattice = std::make_shared<Lattice>(decomposition, c.precision, antiperiodic_in_time, 16, 1, c.tile);
  LinkField even(lattice, 0, c.link_reals), odd(lattice, 1, c.link_reals);
  {
    const HostGauge gauge = heatbath::hot_start(c.lattice, 1, runtime::Team({0}));
    transfer::load_links(even, gauge);
    transfer::load_links(odd, gauge);
    even.freeze();
    odd.freeze();
  }
  wilson::Hopping hopping(even, odd);
  hopping.set_block_threads(c.block_threads);
  const SpinorField on_even(lattice, 0), on_odd(lattice, 1);
  {
    const HostSpinor psi = wavy_spinor(c.lattice);
    transfer::load_spinor(on_odd, psi);
    session.wait_all();
  }
  // Alternating parities, as in a solve: one pair of applications reads every link once.
  const PairTiming times = time_pairs(session, c.repetitions, [&] {
    hopping.apply(on_even, on_odd, {.scale = 0.1});
    hopping.apply(on_odd, on_even, {.scale = 0.1});
  });
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const double bytes = hopping.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {}).bytes;
  return {1320 * sites / times.best * 1e-9, 1320 * sites / times.median * 1e-9, bytes / times.best * 1e-9, times.microseconds_per_task};
}

StaggeredBench::StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action)
    : session_(session),
      decomposition_(lattice, {1, 1, 1, session.block_owners()}, session.block_owners()),
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
  const PairTiming times = time_pairs(session_, repetitions, [&] {
    dslash.apply(on_even, on_odd, {.scale = staggered::same_for_all(0.1)});
    dslash.apply(on_odd, on_even, {.scale = staggered::same_for_all(0.1)});
  });
  const runtime::Cost cost = dslash.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {});
  return {cost.flops / times.best * 1e-9, cost.flops / times.median * 1e-9, cost.bytes / times.best * 1e-9, times.microseconds_per_task};
}

}  // namespace quarkstar::app
