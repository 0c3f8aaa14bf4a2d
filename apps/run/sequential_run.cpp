#include "apps/run/sequential_run.hpp"

#include "apps/run/right_hand_sides.hpp"
#include "apps/run/shared_account.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/wait_for_readers.hpp"
#include "runtime/graph/graph_failure.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace quarkstar::app {
namespace {

/// Solves for the sequential propagator of one hadron, whose right-hand sides are there, and contracts it with the propagator.
void solve_and_contract(const SequentialRun& run, const FullField& propagator, const FullField& right_hand_sides, double mass,
                        const contract::HadronSink& hadron, const Source& source, std::size_t sink, ThreePoints& result) {
  contract::ThreePoint three_point(run.decomposition, three_point_currents(run.config), run.config.three_points.momenta, source, run.links);
  const runtime::Settled settled;
  for (const std::vector<int>& columns : sequential_groups(run.config)) {
    const std::vector<double> masses(columns.size(), run.config.action->sequential_mass(mass));
    std::vector<int> vectors(columns.size());
    std::iota(vectors.begin(), vectors.end(), 0);
    ColumnReport taken;
    const runtime::Energy before = run.meter != nullptr ? run.meter->read() : runtime::Energy{};
    const std::vector<SolveResult> results = run.solver.solve(
        [&](const Field& field) {
          contract::copy_vectors(field, right_hand_sides, std::span(columns).first(static_cast<std::size_t>(field.vectors())));
        },
        masses, {}, run.progress, {},
        [&](const FullField& solutions, std::span<const SolveResult>) { three_point.add(propagator, columns, solutions, vectors); });
    if (run.meter != nullptr) {
      runtime::Session::current().wait_all();
      taken.energy = run.meter->since(before, columns.size());
      taken.idle_us = idle_us_a_task({&run.decomposition, 1}, results);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      taken.column = columns[i];
      taken.result = results[i];
      result.solves.push_back({text_of(hadron), text_of(run.config.sinks[sink]), taken});
    }
    const auto failed = std::stable_partition(result.solves.end() - static_cast<std::ptrdiff_t>(columns.size()), result.solves.end(),
                                              [](const SequentialReport& sequential) { return sequential.solve.result.converged(); });
    result.complete = failed == result.solves.end() && !run.ends();
    if (!result.complete) break;
  }
  std::vector<Correlator> correlators = three_point.correlators(hadron);  // waits
  if (!result.complete) return;
  std::move(correlators.begin(), correlators.end(), std::back_inserter(result.of_sinks[sink]));
}

}  // namespace

std::optional<contract::HopLinks> hop_links(const RunConfig& config, const HostGauge* gauge) {
  if (!contract::has_conserved(three_point_currents(config))) return {};
  return contract::HopLinks{*gauge, config.boundary, config.action->hop_factors(config.settings)};
}

ThreePoints three_points_of(const SequentialRun& run, std::span<const HostField> columns, double mass, const Source& source) {
  ThreePoints result;
  result.of_sinks.resize(run.config.sinks.size());
  const auto lattice = std::make_shared<Lattice>(run.decomposition, Precision::double_, periodic);
  const int n = spinor_components;
  const FullField propagator(lattice, n, n), right_hand_sides(lattice, n, n);
  const runtime::Settled settled;
  for (const int parity : {0, 1}) transfer::load(propagator.of(parity), columns);
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t sink = 0; sink < run.config.sinks.size() && result.complete; ++sink) {
    const Sink& smearing = run.config.sinks[sink];
    std::optional<FullField> smeared;
    if (smearing) {
      smeared.emplace(lattice, n, n);
      run.smearers->smear(*smearing, *smeared, propagator, all);
    }
    for (const contract::HadronSink& hadron : run.config.three_points.hadrons) {
      contract::write_sequential(right_hand_sides, smeared ? *smeared : propagator, hadron, source);
      if (smearing) run.smearers->smear(*smearing, right_hand_sides, right_hand_sides, all);
      solve_and_contract(run, propagator, right_hand_sides, mass, hadron, source, sink, result);
      if (!result.complete) break;
    }
  }
  wait_for_readers(propagator.even, propagator.odd);
  return result;
}

}  // namespace quarkstar::app
