#pragma once
#include <filesystem>
#include <string>

namespace quarkstar::runtime {

/// The first line of a file, as those of /sys and /proc have one; empty where it cannot be read.
std::string first_line(const std::filesystem::path& path);

}  // namespace quarkstar::runtime
