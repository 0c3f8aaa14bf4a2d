#include "apps/campaign/hadron_rows.hpp"

#include "apps/run/source_correlators.hpp"

#include <algorithm>
#include <memory>

namespace quarkstar::app::campaign {
namespace {

/// Both propagators are as they were afterwards.
std::vector<Correlator> contract_two(const Hadron& hadron, const Source& source, Propagator& first, Propagator& second,
                                     const SolvedOn& on) {
  RunConfig of_source = hadron.config;
  of_source.source = source;
  SourceCorrelators correlators(of_source, hadron.choices());
  Propagators both;
  both.push_back(std::move(first));
  both.push_back(std::move(second));
  correlators.contract_pairs(std::make_shared<Lattice>(on.decomposition, Precision::double_, periodic), both, on.smearers);
  first = std::move(both[0]);
  second = std::move(both[1]);
  return correlators.correlators();
}

}  // namespace

bool HadronRows::needs(const Quark& quark, const Source& source) const {
  const std::size_t number = campaign_.number_of(quark);
  const std::string text = quarkstar::text_of(source);
  return std::any_of(campaign_.hadrons.begin(), campaign_.hadrons.end(), [&](const Hadron& hadron) {
    if (!hadron.has(number) || !is_missing(hadron, text)) return false;
    const std::size_t other = hadron.quarks[0] + hadron.quarks[1] - number;
    return other > number || kept_.contains({other, text});
  });
}

void HadronRows::take(const Quark& quark, const Source& source, Propagator propagator, const SolvedOn& on,
                      const std::function<void(const Hadron&, std::vector<Correlator>)>& done) {
  const std::size_t number = campaign_.number_of(quark);
  const std::string text = quarkstar::text_of(source);
  for (const Hadron& hadron : campaign_.hadrons) {
    if (hadron.last_quark() != number || !hadron.has(number) || !is_missing(hadron, text)) continue;
    const auto other = kept_.find({hadron.first_quark(), text});
    if (other == kept_.end()) continue;  // its solve has failed
    const bool comes_first = hadron.quarks[0] == number;
    done(hadron, contract_two(hadron, source, comes_first ? propagator : other->second, comes_first ? other->second : propagator, on));
  }
  forget(number);
  if (waits(number, text, number + 1)) kept_.emplace(std::pair(number, text), std::move(propagator));
}

void HadronRows::forget(std::size_t quark) {
  std::erase_if(kept_, [&](const auto& kept) { return !waits(kept.first.first, kept.first.second, quark); });
}

bool HadronRows::waits(std::size_t number, const std::string& source, std::size_t quark) const {
  return std::any_of(campaign_.hadrons.begin(), campaign_.hadrons.end(), [&](const Hadron& hadron) {
    return hadron.has(number) && hadron.last_quark() >= quark && is_missing(hadron, source);
  });
}

}  // namespace quarkstar::app::campaign
