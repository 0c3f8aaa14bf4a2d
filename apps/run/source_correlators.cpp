#include "apps/run/source_correlators.hpp"

#include "apps/run/report.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/wait_for_readers.hpp"
#include "runtime/graph/graph_failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quarkstar::app {

std::vector<Correlator> low_mode_averages(std::span<const Correlator> correlators, int components, const MesonTimes& gain, bool fold) {
  std::vector<Correlator> averages;
  for (std::size_t c = 0; c < gain.size(); ++c) {
    const contract::Channel& channel = low_mode_channels(components)[c];
    const auto plain = std::find_if(correlators.begin(), correlators.end(), [&](const Correlator& of) { return of.name == channel.name; });
    if (plain == correlators.end()) continue;
    std::vector<double> values = plain->values;
    const std::vector<double> more = fold ? contract::folded(gain[c], channel.reflection) : gain[c];
    for (std::size_t t = 0; t < values.size(); ++t) values[t] += more[t];
    averages.push_back(correlator_of(plain->name + "_low-mode-average", std::move(values)));
  }
  return averages;
}

SourceCorrelators::SourceCorrelators(const RunConfig& of_source)
    : request_(of_source.correlators),
      source_(of_source.source),
      sinks_(of_source.sinks),
      masses_(of_source.masses()),
      pairs_(opposite_masses(masses_)),
      components_(of_source.action->components) {
  if (!has_all_columns(of_source)) return;
  for (contract::Choice& choice : contract::that_fit(contract::choose(of_source.action->correlators, request_.names), source_))
    (choice.family->columns > of_source.action->components ? of_pairs_ : choices_).push_back(std::move(choice));
}

SourceCorrelators::SourceCorrelators(const RunConfig& of_source, const std::vector<contract::Choice>& of_two)
    : request_(of_source.correlators),
      source_(of_source.source),
      sinks_(of_source.sinks),
      of_pairs_(contract::that_fit(of_two, source_)),
      masses_{0},
      pairs_{{0, 1}} {}

void SourceCorrelators::contract_sinks(Contractions& contractions, std::size_t mass, const std::vector<contract::Choice>& choices,
                                       const FullField& solutions, std::span<const int> vectors, const QuarkSmearers* smearers) const {
  std::vector<int> all(vectors.size());
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t s = 0; s < sinks_.size(); ++s) {
    const std::pair key(mass, s);
    if (!sinks_[s]) {
      contractions.try_emplace(key, choices, request_, solutions, vectors, source_);
      continue;
    }
    const FullField smeared(smearers->lattice(), solutions.even.components(), static_cast<int>(vectors.size()));
    smearers->smear(*sinks_[s], smeared, solutions, vectors);
    contractions.try_emplace(key, choices, request_, smeared, all, source_);
  }
}

void SourceCorrelators::contract(std::size_t source, const std::vector<RightHandSide>& group, const FullField& solutions,
                                 std::span<const SolveResult> results, const QuarkSmearers* smearers) {
  std::map<std::size_t, std::vector<int>> vectors;  // of each mass, in the order of columns
  for (std::size_t v = 0; v < group.size(); ++v)
    if (group[v].source == source && results[v].converged()) vectors[group[v].mass].push_back(static_cast<int>(v));
  for (const auto& [mass, own] : vectors)
    if (lacks(mass) && own.size() == static_cast<std::size_t>(solutions.even.components()))
      contract_sinks(contractions_, mass, choices_, solutions, own, smearers);
}

void SourceCorrelators::contract_copy(Contractions& contractions, std::size_t mass, const std::vector<contract::Choice>& choices,
                                      const LatticePointer& lattice, std::span<const HostField> columns,
                                      const QuarkSmearers* smearers) const {
  const LatticePointer of_sites =  // columns do not fill lanes that are of vectors
      lattice->vectors_in_lanes() == 1 ? lattice
                                       : std::make_shared<Lattice>(lattice->decomposition(), lattice->precision(), lattice->boundary());
  const FullField field(of_sites, columns.front().components, static_cast<int>(columns.size()));
  const runtime::Settled settled;
  for (const int parity : {0, 1}) transfer::load(field.of(parity), columns);
  std::vector<int> vectors(columns.size());
  std::iota(vectors.begin(), vectors.end(), 0);
  contract_sinks(contractions, mass, choices, field, vectors, smearers);
  wait_for_readers(field.even, field.odd);
}

void SourceCorrelators::contract_rest(std::size_t mass, const LatticePointer& lattice, std::span<const HostField> columns,
                                      const QuarkSmearers* smearers) {
  const bool complete = std::none_of(columns.begin(), columns.end(), [](const HostField& column) { return column.data.empty(); });
  if (lacks(mass) && complete) contract_copy(contractions_, mass, choices_, lattice, columns, smearers);
}

void SourceCorrelators::contract_pairs(const LatticePointer& lattice, Propagators& propagators, const QuarkSmearers* smearers) {
  if (of_pairs_.empty()) return;
  for (const auto& [plus, minus] : pairs_) {
    std::vector<HostField> both;  // side by side for as long as it takes: a second copy would not fit everywhere
    for (const std::size_t m : {plus, minus})
      for (HostField& column : propagators[m].columns) both.push_back(std::move(column));
    contract_copy(contractions_of_pairs_, plus, of_pairs_, lattice, both, smearers);
    auto back = both.begin();
    for (const std::size_t m : {plus, minus})
      for (HostField& column : propagators[m].columns) column = std::move(*back++);
  }
}

std::vector<Correlator> SourceCorrelators::correlators() const {
  std::vector<Correlator> all, averages;
  for (const Contractions* contractions : {&contractions_, &contractions_of_pairs_})
    for (const auto& [key, contraction] : *contractions) {
      std::vector<Correlator> of_key = contraction.correlators();
      if (const auto gain = low_modes_.find(key.first); gain != low_modes_.end() && !sinks_[key.second])
        for (Correlator& average : low_mode_averages(of_key, components_, gain->second, request_.fold))
          averages.push_back(named(std::move(average), key.first, key.second));
      for (Correlator& correlator : of_key) all.push_back(named(std::move(correlator), key.first, key.second));
    }
  std::move(averages.begin(), averages.end(), std::back_inserter(all));
  for (const auto& [key, correlators] : three_points_) all.insert(all.end(), correlators.begin(), correlators.end());
  return all;
}

Correlator SourceCorrelators::named(Correlator correlator, std::size_t mass, std::size_t sink) const {
  if (sinks_[sink]) correlator.name += "_sink-" + text_of(sinks_[sink]);
  if (masses_.size() > 1) correlator.name += fmt::format("_m{}", masses_[mass]);
  return correlator;
}

void SourceCorrelators::add_three_points(std::size_t mass, std::size_t sink, std::vector<Correlator> correlators) {
  for (Correlator& correlator : correlators) three_points_[{mass, sink}].push_back(named(std::move(correlator), mass, sink));
}

}  // namespace quarkstar::app
