#include "runtime/system/first_line.hpp"

#include <fstream>

namespace quarkstar::runtime {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace quarkstar::runtime
