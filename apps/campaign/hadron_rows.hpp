#pragma once
// What hadrons are made of while a campaign works on a configuration: propagators that wait for those of another quark.
#include "apps/campaign/journal.hpp"
#include "apps/run/solve_run.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::app::campaign {

/// A propagator stays in host memory from its solve until the last row is done that needs it and is missing. Of all ranks alike, each with
/// its part.
class HadronRows {
 public:
  HadronRows(const Campaign& campaign, const Journal& journal) : campaign_(campaign), journal_(journal) {}

  void begin(const Configuration& configuration) {
    kept_.clear();
    configuration_ = configuration.name;
  }

  /// Whether a missing row of a hadron needs this propagator, and can get the other one.
  bool needs(const Quark& quark, const Source& source) const;

  /// Contracts it with those that have waited for it, and keeps it where it has to wait itself. done: a hadron's row is there; it notes
  /// that in the journal. Collective.
  void take(const Quark& quark, const Source& source, Propagator propagator, const SolvedOn& on,
            const std::function<void(const Hadron&, std::vector<Correlator>)>& done);

  /// All that can be solved for this quark is: what has waited for it alone goes.
  void is_over(const Quark& quark) { forget(campaign_.number_of(quark) + 1); }

  /// How many propagators wait.
  std::size_t kept() const { return kept_.size(); }

 private:
  bool is_missing(const Hadron& hadron, const std::string& source) const {
    return !journal_.is_done({configuration_, hadron.name, source});
  }
  /// Whether a missing row needs the propagator of quark `number` whose last quark is `quark` or comes behind it.
  bool waits(std::size_t number, const std::string& source, std::size_t quark) const;
  /// Lets go what does not.
  void forget(std::size_t quark);

  const Campaign& campaign_;
  const Journal& journal_;
  std::string configuration_;
  std::map<std::pair<std::size_t, std::string>, Propagator> kept_;  ///< by the quark's number and the source
};

}  // namespace quarkstar::app::campaign
