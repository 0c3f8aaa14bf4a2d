#include "apps/run/action_kind.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app {

const std::vector<const ActionKind*>& action_kinds() {
  static const std::vector<const ActionKind*> kinds{
#define QUARKSTAR_ACTION(name) &name##_kind(),
#include "apps/run/actions.inc"
#undef QUARKSTAR_ACTION
  };
  return kinds;
}

std::vector<std::string> action_names() {
  std::vector<std::string> names;
  for (const ActionKind* kind : action_kinds()) names.emplace_back(kind->name);
  return names;
}

const ActionKind& kind_named(std::string_view name) {
  for (const ActionKind* kind : action_kinds())
    if (kind->name == name) return *kind;
  throw Error(ErrorKind::input, "--action", fmt::format("there is no action '{}'", name),
              fmt::format("use one of {}", fmt::join(action_names(), ", ")));
}

const ActionKind& kind_of(const RunConfig& config) { return kind_named(config.action); }

bool ActionKind::knows(std::string_view key) const {
  return std::find(settings.begin(), settings.end(), key) != settings.end() ||
         std::any_of(numbers.begin(), numbers.end(), [key](const ActionNumber& number) { return number.key == key; });
}

double ActionKind::number(const RunConfig& config, std::string_view key) const {
  if (const auto given = config.numbers.find(key); given != config.numbers.end()) return given->second;
  for (const ActionNumber& number : numbers)
    if (number.key == key) return number.initial;
  throw Error(ErrorKind::internal, std::string(key), fmt::format("it is no setting of the action {}", name), "this is a defect");
}

std::string ActionKind::text_of_column(int column) const {
  return components == spinor_components ? fmt::format("column {} (spin {}, colour {})", column, column / 3, column % 3)
                                         : fmt::format("colour {}", column);
}

}  // namespace quarkstar::app
