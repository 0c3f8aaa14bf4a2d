#pragma once
// What has been measured on this machine, kept from run to run.
#include "runtime/tune/tune_entry.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace quarkstar::runtime {

class TuneFile;

/// Entries by key, in memory and in a JSON file that any number of processes share. A key names everything that a choice depends on:
/// device, kernel and its version, problem. Choices change speed, never results.
///
/// Each new entry is written at once: the file is locked (flock on FILE.lock), read again, merged, and replaced by renaming, so that
/// neither a killed run nor two runs at a time lose what is there, nor members of the file that this version does not know. A file that
/// cannot be read as a cache is named in a warning, put aside as FILE.damaged and made anew; one that cannot be written, or that a later
/// version of the program has written, is named in a warning and stays as it is, and the run goes on with what it measures itself.
class TuneCache {
 public:
  explicit TuneCache(std::string path);

  /// The cache of this user: file $QUARKSTAR_TUNE, else $XDG_CACHE_HOME/quarkstar/tune.json, else ~/.cache/quarkstar/tune.json.
  static TuneCache& of_user();

  const std::string& path() const { return path_; }
  std::optional<TuneEntry> find(const std::string& key) const;
  std::size_t size() const;

  /// Remembers an entry and writes it down where the file is ours to write. Throws nothing for a file that cannot be written.
  void put(const std::string& key, const TuneEntry& entry);

 private:
  enum class Damage { report, put_aside };
  TuneFile read(Damage damage);

  std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, TuneEntry> entries_;
  bool writable_ = true;
};

}  // namespace quarkstar::runtime
