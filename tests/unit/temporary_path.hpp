#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace quarkstar::testing {

/// A name in the temporary directory, without a file at the end. ending: tells those of a process apart.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::string& ending)
      : path_(std::filesystem::temp_directory_path() / ("quarkstar_test." + std::to_string(getpid()) + ending)) {}
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string text() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace quarkstar::testing
