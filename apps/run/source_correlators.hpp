#pragma once
// The correlators of a source: contracted on the graph as its propagators become complete.
#include "apps/run/config.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/contract/contraction.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "solvers/eigen/low_mode_average.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace quarkstar::app {

/// Low-mode averages, pion5_low-mode-average, of those correlators of a source that have one. gain: low_mode_gain(), of
/// low_mode_channels(components). fold: whether the correlators are folded.
std::vector<Correlator> low_mode_averages(std::span<const Correlator> correlators, int components, const MesonTimes& gain, bool fold);

/// The wanted correlators of one source, for each sink: smeared solutions are contracted like those as they are.
class SourceCorrelators {
 public:
  explicit SourceCorrelators(const RunConfig& of_source);
  /// Of a hadron of two quarks: choices of families of two propagators. contract_pairs() takes those of both quarks, in this order.
  SourceCorrelators(const RunConfig& of_source, const std::vector<contract::Choice>& of_two);

  // smearers: those of the sinks; nullptr where none smears. They outlive the tasks.

  /// Submits contractions of those propagators of this source, a run's source number `source`, that have all columns in a group, whose
  /// solutions are on the graph.
  void contract(std::size_t source, const std::vector<RightHandSide>& group, const FullField& solutions,
                std::span<const SolveResult> results, const QuarkSmearers* smearers = nullptr);
  /// The same of the propagator of a mass (its place in the list), where it has come in parts and is complete: a copy of this rank's part
  /// of the columns is on the graph meanwhile. Waits for the tasks.
  void contract_rest(std::size_t mass, const LatticePointer& lattice, std::span<const HostField> columns,
                     const QuarkSmearers* smearers = nullptr);
  /// The same of two propagators of opposite masses, once all are complete and nothing else reads their columns.
  void contract_pairs(const LatticePointer& lattice, Propagators& propagators, const QuarkSmearers* smearers = nullptr);
  /// Of a mass and a sink, by their places in the lists.
  void add_three_points(std::size_t mass, std::size_t sink, std::vector<Correlator> correlators);
  /// Of a mass, by its place: what low-mode averages have more than mesons from this source to point sinks.
  void add_low_modes(std::size_t mass, MesonTimes gain) { low_modes_.emplace(mass, std::move(gain)); }
  /// Waits for them. In the order of masses and sinks, with names that end in _sink-gaussian:2,10 and so on where a sink is smeared, and
  /// with several masses in _m0.05; behind these low-mode averages, pion5_low-mode-average; three-point functions come last. Collective.
  std::vector<Correlator> correlators() const;

 private:
  /// By the mass, or the positive one, and the sink.
  using Contractions = std::map<std::pair<std::size_t, std::size_t>, contract::Contraction>;
  /// Adds what tells the sink and the mass.
  Correlator named(Correlator correlator, std::size_t mass, std::size_t sink) const;
  bool lacks(std::size_t mass) const { return !choices_.empty() && !contractions_.contains({mass, 0}); }
  void contract_sinks(Contractions& contractions, std::size_t mass, const std::vector<contract::Choice>& choices,
                      const FullField& solutions, std::span<const int> vectors, const QuarkSmearers* smearers) const;
  void contract_copy(Contractions& contractions, std::size_t mass, const std::vector<contract::Choice>& choices,
                     const LatticePointer& lattice, std::span<const HostField> columns, const QuarkSmearers* smearers) const;

  contract::Request request_;
  Source source_;
  std::vector<Sink> sinks_;
  std::vector<contract::Choice> choices_, of_pairs_;  ///< empty: the source has not all columns
  std::vector<double> masses_;
  std::vector<MassPair> pairs_;
  Contractions contractions_, contractions_of_pairs_;
  int components_ = 0;
  std::map<std::size_t, MesonTimes> low_modes_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Correlator>> three_points_;
};

}  // namespace quarkstar::app
