#include "apps/run/action_kind.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {

const std::vector<const ActionKind*>& action_kinds() {
  static const std::vector<const ActionKind*> kinds{&wilson_kind(), &hisq_kind(), &asqtad_kind(), &naive_kind()};
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

std::string ActionKind::text_of_column(int column) const {
  return components == spinor_components ? fmt::format("column {} (spin {}, colour {})", column, column / 3, column % 3)
                                         : fmt::format("colour {}", column);
}

}  // namespace quarkstar::app
