#pragma once
// The file of a tune cache: {"format": 1, "entries": {KEY: {"choice": [...], "microseconds": ...}, ...}}.
#include "runtime/tune/tune_entry.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <stdexcept>
#include <string>

namespace quarkstar::runtime {

/// A text that is no such file. line: where, counted from 1.
struct TuneFileDamage : std::runtime_error {
  TuneFileDamage(int where, const std::string& what) : std::runtime_error(what), line(where) {}
  int line;
};

/// A file that a later version has written: it is whole, and not for this one to read or change.
struct TuneFileNewer {
  double format;
};

/// The content of a file. What it does not know (members beside these, in the file or in entries; keys of other kernel versions) stays.
class TuneFile {
 public:
  static constexpr int format = 1;

  /// An empty one.
  TuneFile();
  /// Throws TuneFileDamage or TuneFileNewer.
  explicit TuneFile(const std::string& text);

  std::map<std::string, TuneEntry> entries() const;
  std::size_t size() const { return content_.at("entries").size(); }
  /// Adds an entry, or replaces what the key had.
  void put(const std::string& key, const TuneEntry& entry);

  struct Merged {
    std::size_t added = 0, faster = 0, kept = 0;  ///< entries of the other: new here, faster than those here, no faster
  };
  /// Takes what the other has: of two entries with one key the faster, whole.
  Merged merge(const TuneFile& other);

  std::string text() const { return content_.dump(1) + "\n"; }

 private:
  nlohmann::json content_;
};

}  // namespace quarkstar::runtime
