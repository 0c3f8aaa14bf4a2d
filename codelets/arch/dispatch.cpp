#include "codelets/arch/dispatch.hpp"

#include "codelets/arch/preference.hpp"
#include "quarkstar_built_architectures.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace quarkstar::arch {
namespace {

struct Known {
  std::string_view name;
  bool (*usable)();
};

#define QUARKSTAR_KNOWN(architecture) {#architecture, [] { return QUARKSTAR_USABLE_##architecture; }},
constexpr Known known[architecture_count] = {QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_KNOWN)};
#undef QUARKSTAR_KNOWN

std::optional<Architecture> forced, preferred;

std::string one_of_available() {
  std::vector<std::string_view> names;
  for (const Architecture a : available()) names.push_back(name_of(a));
  return fmt::format("use one of {}", fmt::join(names, ", "));
}

Architecture checked(Architecture architecture, std::string_view where) {
  const auto& list = available();
  if (std::find(list.begin(), list.end(), architecture) == list.end())
    throw Error(ErrorKind::input, where, fmt::format("architecture '{}' is not available here", name_of(architecture)), one_of_available());
  return architecture;
}

}  // namespace

std::string_view name_of(Architecture architecture) { return known[static_cast<int>(architecture)].name; }

const std::vector<Architecture>& available() {
  static const std::vector<Architecture> list = [] {
    std::vector<Architecture> found;
    for (int i = 0; i < architecture_count; ++i)
      if (known[i].usable()) found.push_back(static_cast<Architecture>(i));
    return found;
  }();
  return list;
}

Architecture parse(std::string_view name) {
  for (int i = 0; i < architecture_count; ++i)
    if (known[i].name == name) return static_cast<Architecture>(i);
  throw Error(ErrorKind::input, "QUARKSTAR_ARCH", fmt::format("unknown architecture '{}'", name), one_of_available());
}

namespace {

/// What $QUARKSTAR_ARCH asks for.
std::optional<Architecture> asked_for() {
  static const std::optional<Architecture> asked = []() -> std::optional<Architecture> {
    if (available().empty())
      throw Error(ErrorKind::environment, "CPU kernels", "this build has none for this processor",
                  "configure with -DQUARKSTAR_ARCHITECTURES=all");
    const char* wish = std::getenv("QUARKSTAR_ARCH");
    if (wish == nullptr || *wish == 0) return std::nullopt;
    return checked(parse(wish), "QUARKSTAR_ARCH");
  }();
  return asked;
}

}  // namespace

Architecture current() {
  if (forced) return *forced;
  return asked_for().value_or(preferred.value_or(available().back()));
}

bool is_asked_for() { return asked_for().has_value(); }

void prefer(std::optional<Architecture> architecture) {
  preferred = architecture ? std::optional(checked(*architecture, "architecture")) : std::nullopt;
}

void force(Architecture architecture) { forced = checked(architecture, "architecture"); }

}  // namespace quarkstar::arch
