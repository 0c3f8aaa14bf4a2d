#pragma once
// Every rank of a job reads its own flags and run file: what they must agree in, and whether they do.
#include "apps/run/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace quarkstar::app {

/// The settings that make up one solve on many ranks, a line `--KEY VALUE` each, values as in reports. Not among them: what a rank may have
/// of its own, as its devices, workers, memory, power and watchdog.
std::string shared_settings(const RunConfig& config);

/// Such a line of another command: "none" where there is no value.
template <class Value>
std::string setting_line(std::string_view name, const Value& value) {
  if constexpr (requires { value.has_value(); }) return value ? setting_line(name, *value) : setting_line(name, "none");
  else if constexpr (requires { value[0] + 1.0; } && !std::is_convertible_v<Value, std::string_view>)
    return fmt::format("{} {}\n", name, fmt::join(value, ","));
  else return fmt::format("{} {}\n", name, value);
}

/// mine, roots: shared_settings() of this rank and of rank 0, or such lines of another command. Throws Error(input) that
/// names the first setting in which they differ, and both values.
void require_same_settings(const std::string& mine, const std::string& roots);

/// The same on all ranks of the job. Throws SharedError. Collective.
void require_same_settings_everywhere(const std::string& mine);

}  // namespace quarkstar::app
