#include "codelets/arch/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "runtime/error.hpp"

namespace quarkstar::arch {
namespace {

struct Known {
  Architecture architecture;
  std::string_view name;
  bool compiled;
  bool (*usable)();
};

bool always() { return true; }
#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

#ifdef QUARKSTAR_HAVE_AVX2
constexpr bool avx2_compiled = true;
#else
constexpr bool avx2_compiled = false;
#endif
#ifdef QUARKSTAR_HAVE_AVX512
constexpr bool avx512_compiled = true;
#else
constexpr bool avx512_compiled = false;
#endif

constexpr Known known[architecture_count] = {{Architecture::scalar, "scalar", true, always},
                                             {Architecture::avx2, "avx2", avx2_compiled, has_avx2},
                                             {Architecture::avx512, "avx512", avx512_compiled, has_avx512}};

std::optional<Architecture> forced;

Architecture checked(Architecture architecture, std::string_view where) {
  const auto& list = available();
  if (std::find(list.begin(), list.end(), architecture) == list.end()) {
    std::vector<std::string_view> names;
    for (const Architecture a : list) names.push_back(name_of(a));
    throw Error(ErrorKind::input, where, fmt::format("architecture '{}' is not available here", name_of(architecture)),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  return architecture;
}

}  // namespace

std::string_view name_of(Architecture architecture) { return known[static_cast<int>(architecture)].name; }

const std::vector<Architecture>& available() {
  static const std::vector<Architecture> list = [] {
    std::vector<Architecture> found;
    for (const Known& k : known)
      if (k.compiled && k.usable()) found.push_back(k.architecture);
    return found;
  }();
  return list;
}

Architecture parse(std::string_view name) {
  for (const Known& k : known)
    if (k.name == name) return k.architecture;
  throw Error(ErrorKind::input, "QUARKSTAR_ARCH", fmt::format("unknown architecture '{}'", name), "use scalar, avx2 or avx512");
}

Architecture current() {
  static const Architecture chosen = [] {
    const char* wish = std::getenv("QUARKSTAR_ARCH");
    return wish != nullptr && *wish != 0 ? checked(parse(wish), "QUARKSTAR_ARCH") : available().back();
  }();
  return forced.value_or(chosen);
}

void force(Architecture architecture) { forced = checked(architecture, "architecture"); }

}  // namespace quarkstar::arch
