#pragma once
// Journals: files of one JSON object per line, only ever appended to.
#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace quarkstar::app {

/// Each line is on disk when append() returns, so that a program that is killed leaves all lines but, at worst, a part of the last one.
class JsonLines {
 public:
  using Json = nlohmann::ordered_json;
  /// Told of each line of a file; throws Json::exception where it is none of a journal of this kind.
  using Take = std::function<void(const Json&)>;

  /// Reads the file if it exists, cuts off a last line without an end, and makes it its own. kind: whose journal it is, "laboratory".
  /// Throws Error(input) naming file and line for any other line that cannot be read, Error(environment) while another process has it open
  /// (on a file system without locks nobody knows, and it warns), and the errors of throw_write_error().
  JsonLines(std::string path, const std::string& kind, const Take& take);
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  ~JsonLines();

  /// Throws as throw_write_error(). Bytes that are no UTF-8 are replaced.
  void append(const Json& line);

  /// Reads a file, which may be missing, without a claim to it. Returns its bytes up to the end of the last line that has one.
  static std::size_t read(const std::string& path, const std::string& kind, const Take& take);

 private:
  std::string path_;
  int file_;
};

}  // namespace quarkstar::app
