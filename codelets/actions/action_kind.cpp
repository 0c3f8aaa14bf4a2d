#include "codelets/actions/action_kind.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

namespace quarkstar {

std::string value_text(const SettingValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using Value = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<Value, std::monostate>) return "none";
        else if constexpr (std::is_same_v<Value, double>) return fmt::format("{:.17g}", v);
        else if constexpr (std::is_same_v<Value, std::vector<double>>) return fmt::format("{:.17g}", fmt::join(v, ","));
        else return fmt::format("{}", v);
      },
      value);
}

const std::vector<const ActionKind*>& action_kinds() {
  static const std::vector<const ActionKind*> kinds{
#define QUARKSTAR_ACTION(name) &name##_kind(),
#include "codelets/actions/actions.inc"
#undef QUARKSTAR_ACTION
  };
  return kinds;
}

bool is_operator_setting(std::string_view key) {
  const std::vector<const ActionKind*>& kinds = action_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [key](const ActionKind* kind) {
    return kind->setting(key) != nullptr && std::find(kind->link_files.begin(), kind->link_files.end(), key) == kind->link_files.end();
  });
}

std::vector<std::string> action_names() {
  std::vector<std::string> names;
  for (const ActionKind* kind : action_kinds()) names.emplace_back(kind->name);
  return names;
}

const ActionKind& kind_named(std::string_view name) {
  for (const ActionKind* kind : action_kinds())
    if (kind->name == name) return *kind;
  throw Error(ErrorKind::input, Parameter("action"), fmt::format("there is no action '{}'", name),
              fmt::format("use one of {}", fmt::join(action_names(), ", ")));
}

const ActionSetting* ActionKind::setting(std::string_view key) const {
  const auto found = std::find_if(settings.begin(), settings.end(), [key](const ActionSetting& s) { return s.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

bool ActionKind::states_mass(std::string_view key) const {
  const auto says = [this](std::string_view one, std::string_view other) {
    const ActionSetting* const that = setting(one);
    return that != nullptr && that->instead_of == other;
  };
  return key == mass_key || says(key, mass_key) || says(mass_key, key);
}

bool ActionKind::knows(std::string_view key) const {
  return setting(key) != nullptr || std::find(solver_settings.begin(), solver_settings.end(), key) != solver_settings.end();
}

const SettingValue& ActionKind::value(const SettingValues& values, std::string_view key) const {
  const ActionSetting* declared = setting(key);
  if (declared == nullptr)
    throw Error(ErrorKind::internal, std::string(key), fmt::format("it is no setting of the action {}", name), "this is a defect");
  const auto given = values.find(key);
  return given != values.end() ? given->second : declared->initial;
}

std::string ActionKind::text_of_column(int column) const {
  return components == spinor_components ? fmt::format("column {} (spin {}, colour {})", column, column / 3, column % 3)
                                         : fmt::format("colour {}", column);
}

bool ActionKind::has_own_links(const SettingValues& values) const {
  return std::any_of(link_files.begin(), link_files.end(), [&](std::string_view key) { return !get<std::string>(values, key).empty(); });
}

Coord ActionKind::accept_files(ActionRun&) const {
  throw Error(ErrorKind::internal, std::string(name), "its links are not read from files", "this is a defect");
}

}  // namespace quarkstar
