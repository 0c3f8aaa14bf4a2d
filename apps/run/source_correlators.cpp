#include "apps/run/source_correlators.hpp"

#include "apps/run/report.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/wait_for_readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quarkstar::app {

SourceCorrelators::SourceCorrelators(const RunConfig& of_source)
    : request_(of_source.correlators), source_(of_source.source), masses_(of_source.masses()) {
  if (has_all_columns(of_source)) choices_ = contract::that_fit(contract::choose(of_source.action->correlators, request_.names), source_);
}

void SourceCorrelators::submit(std::size_t mass, const FullField& solutions, std::span<const int> vectors) {
  contractions_.try_emplace(mass, choices_, request_, solutions, vectors, source_);
}

void SourceCorrelators::contract(std::size_t source, const std::vector<RightHandSide>& group, const FullField& solutions,
                                 std::span<const SolveResult> results) {
  std::map<std::size_t, std::vector<int>> vectors;  // of each mass, in the order of columns
  for (std::size_t v = 0; v < group.size(); ++v)
    if (group[v].source == source && results[v].converged()) vectors[group[v].mass].push_back(static_cast<int>(v));
  for (const auto& [mass, own] : vectors)
    if (lacks(mass) && own.size() == static_cast<std::size_t>(solutions.even.components())) submit(mass, solutions, own);
}

void SourceCorrelators::contract_rest(std::size_t mass, const LatticePointer& lattice, std::span<const HostField> columns) {
  const auto missing = [](const HostField& column) { return column.data.empty(); };
  if (!lacks(mass) || std::any_of(columns.begin(), columns.end(), missing)) return;
  const LatticePointer of_sites =  // columns do not fill lanes that are of vectors
      lattice->vectors_in_lanes() == 1 ? lattice
                                       : std::make_shared<Lattice>(lattice->decomposition(), lattice->precision(), lattice->boundary());
  const FullField field(of_sites, columns.front().components, static_cast<int>(columns.size()));
  for (const int parity : {0, 1}) transfer::load(field.of(parity), columns);
  std::vector<int> vectors(columns.size());
  std::iota(vectors.begin(), vectors.end(), 0);
  submit(mass, field, vectors);
  wait_for_readers(field.even, field.odd);
}

std::vector<Correlator> SourceCorrelators::correlators() const {
  std::vector<Correlator> all;
  for (const auto& [mass, contraction] : contractions_)
    for (Correlator& correlator : contraction.correlators()) {
      if (masses_.size() > 1) correlator.name += fmt::format("_m{}", masses_[mass]);
      all.push_back(std::move(correlator));
    }
  return all;
}

}  // namespace quarkstar::app
