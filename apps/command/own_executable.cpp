#include "apps/command/own_executable.hpp"

#include <filesystem>

namespace quarkstar::app {

std::string neighbour_of_executable(const std::string& neighbour) {
  return (std::filesystem::read_symlink(own_executable).parent_path() / neighbour).string();
}

}  // namespace quarkstar::app
