#include "codelets/field/quark_smearing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar {

std::string_view name_of(QuarkSmearing::Form form) { return form == QuarkSmearing::Form::gaussian ? "gaussian" : "wuppertal"; }

std::string numbers_of(const QuarkSmearing& smearing) {
  std::string text = fmt::format("{},{}", smearing.number, smearing.steps);
  if (smearing.ape_steps > 0) text += fmt::format(",{},{}", smearing.ape, smearing.ape_steps);
  return text;
}

std::string text_of(const Sink& sink) { return sink ? fmt::format("{}:{}", name_of(sink->form), numbers_of(*sink)) : "point"; }

std::vector<QuarkSmearing> smearings_of(const std::vector<Sink>& sinks) {
  std::vector<QuarkSmearing> smearings;
  for (const Sink& sink : sinks)
    if (sink && std::find(smearings.begin(), smearings.end(), *sink) == smearings.end()) smearings.push_back(*sink);
  return smearings;
}

}  // namespace quarkstar
