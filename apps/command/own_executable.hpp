#pragma once
// The running executable, and what lies beside it.
#include <string>

namespace quarkstar::app {

/// To be started again. It stays the same program where another build has taken the place of its file.
inline constexpr const char* own_executable = "/proc/self/exe";

/// The path of a file in, or relative to, its folder.
std::string neighbour_of_executable(const std::string& neighbour);

}  // namespace quarkstar::app
