#include "tests/reference/data.hpp"

#include <cstdlib>
#include <iostream>

namespace quarkstar::reference {

std::filesystem::path source_folder() { return QUARKSTAR_SOURCE_DIR; }

std::optional<std::filesystem::path> data_directory(const std::string& test_case) {
  const char* named = std::getenv("QUARKSTAR_DATA");
  const std::filesystem::path folder = named != nullptr ? named : source_folder() / ".." / "shared" / "data";
  if (std::filesystem::exists(folder / "golden.json")) return folder;
  std::cout << "SKIPPED " << test_case << ": no reference data\n";
  return std::nullopt;
}

}  // namespace quarkstar::reference
