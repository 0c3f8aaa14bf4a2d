#pragma once
// Where the tests find files.
#include <filesystem>
#include <optional>
#include <string>

namespace quarkstar::reference {

/// The source tree that this program was compiled from.
std::filesystem::path source_folder();

/// The folder of reference data (docs/conventions.md, section 12): $QUARKSTAR_DATA, else ../shared/data beside the source tree; without
/// one, says so in one line and returns nothing.
std::optional<std::filesystem::path> data_directory(const std::string& test_case);

}  // namespace quarkstar::reference
