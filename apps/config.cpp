#include "apps/config.hpp"

#include "apps/parse.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {

const Field* find_field(std::string_view key) {
  const std::vector<Field>& fields = run_fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [key](const Field& f) { return f.key == key; });
  return field == fields.end() ? nullptr : &*field;
}

void apply_settings(RunConfig& config, const std::vector<Assignment>& settings) {
  const auto given = [&](std::string_view key) {
    return std::find_if(settings.begin(), settings.end(), [key](const Assignment& a) { return a.key == key; });
  };
  if (const auto mass = given("mass"); mass != settings.end() && given("kappa") != settings.end())
    throw Error(ErrorKind::input, mass->where, "mass and kappa are both given", "give one: kappa = 1 / (2 (mass + 4))");
  for (const Assignment& setting : settings) {
    try {
      find_field(setting.key)->set(config, setting.value);
    } catch (const BadValue& bad) {
      throw Error(ErrorKind::input, setting.where, bad.what(), bad.allowed());
    }
  }
}

void check_complete(const RunConfig& config) {
  if (config.gauge.empty())
    throw Error(ErrorKind::input, "--gauge", "no gauge configuration given",
                "name a file, or make one with `quarkstar gauge generate`");
  if (config.out.empty() && config.json.empty())
    throw Error(ErrorKind::input, "--out", "nowhere to write the results", "give --out DIR, --json FILE or both");
  if (config.checkpoint_every > 0 && config.checkpoint.empty())
    throw Error(ErrorKind::input, "--checkpoint-every", "nowhere to write restart files", "give --checkpoint DIR");
}

}  // namespace quarkstar::app
