#pragma once
// The correlators of a source: contracted on the graph as its propagators become complete.
#include "apps/run/config.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/contract/contraction.hpp"

#include <map>
#include <span>
#include <vector>

namespace quarkstar::app {

/// The wanted correlators of one source.
class SourceCorrelators {
 public:
  explicit SourceCorrelators(const RunConfig& of_source);

  /// Submits contractions of those propagators of this source, a run's source number `source`, that have all columns in a group, whose
  /// solutions are on the graph.
  void contract(std::size_t source, const std::vector<RightHandSide>& group, const FullField& solutions,
                std::span<const SolveResult> results);
  /// The same of the propagator of a mass (its place in the list), where it has come in parts and is complete: a copy of this rank's part
  /// of the columns is on the graph meanwhile. Waits for the tasks.
  void contract_rest(std::size_t mass, const LatticePointer& lattice, std::span<const HostField> columns);
  /// Waits for them. In the order of masses, and with several with names that end in _m0.05 and so on. Collective.
  std::vector<Correlator> correlators() const;

 private:
  bool lacks(std::size_t mass) const { return !choices_.empty() && !contractions_.contains(mass); }
  void submit(std::size_t mass, const FullField& solutions, std::span<const int> vectors);

  contract::Request request_;
  Source source_;
  std::vector<contract::Choice> choices_;  ///< empty: the source has not all columns
  std::vector<double> masses_;
  std::map<std::size_t, contract::Contraction> contractions_;
};

}  // namespace quarkstar::app
