#include "runtime/tune/tune_cache.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/atomic_file.hpp"
#include "runtime/error.hpp"

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int file_format = 1;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string path_of_user() {
  if (const std::string path = from_environment("QUARKSTAR_TUNE"); !path.empty()) return path;
  fs::path folder = from_environment("XDG_CACHE_HOME");
  if (folder.empty()) {
    const std::string home = from_environment("HOME");
    folder = home.empty() ? fs::temp_directory_path() : fs::path(home) / ".cache";
  }
  return (folder / "quarkstar" / "tune.json").string();
}

/// An exclusive lock for as long as it lives; without one where the file system has none, for then renaming must do.
class Lock {
 public:
  explicit Lock(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

/// A file that a later version has written: it is whole, and not for this one to change.
struct NewerFormat {
  double format;
};

TuneEntry entry_of(const json& value) {
  TuneEntry entry{value.at("choice").get<std::vector<int>>(), value.at("microseconds").get<double>()};
  if (!std::isfinite(entry.microseconds)) throw std::runtime_error("a time is not a number");
  return entry;
}

}  // namespace

TuneCache::TuneCache(std::string path) : path_(std::move(path)) { entries_ = read(Damage::report); }

TuneCache& TuneCache::of_user() {
  static TuneCache cache(path_of_user());
  return cache;
}

std::optional<TuneEntry> TuneCache::find(const std::string& key) const {
  const std::lock_guard guard(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() ? std::optional(found->second) : std::nullopt;
}

std::size_t TuneCache::size() const {
  const std::lock_guard guard(mutex_);
  return entries_.size();
}

void TuneCache::put(const std::string& key, const TuneEntry& entry) {
  const std::lock_guard guard(mutex_);
  entries_[key] = entry;
  if (!writable_) return;
  try {
    if (const fs::path folder = fs::path(path_).parent_path(); !folder.empty()) fs::create_directories(folder);
    const Lock lock(path_ + ".lock");
    if (fs::exists(path_)) {
      if (!fs::is_regular_file(path_)) throw std::runtime_error("it is not a file");
      if (!std::ifstream(path_)) throw std::runtime_error("it cannot be read");
    }
    Entries all = read(Damage::put_aside);
    if (!writable_) return;
    all[key] = entry;
    write(all);
    all.merge(entries_);  // what others have measured meanwhile, and what an unwritable file has kept from us
    entries_ = std::move(all);
  } catch (const std::exception& error) {
    spdlog::warn("{}: the tune cache cannot be written ({}); set $QUARKSTAR_TUNE to a file that can", path_, error.what());
    writable_ = false;
  }
}

TuneCache::Entries TuneCache::read(Damage damage) {
  Entries entries;
  std::error_code ignored;
  if (!fs::is_regular_file(path_, ignored)) return entries;
  std::ifstream file(path_, std::ios::binary);
  if (!file) return entries;
  try {
    const json content = json::parse(file);
    const auto format = content.at("format").get<double>();
    if (format > file_format) throw NewerFormat{format};
    if (format != file_format) throw std::runtime_error("its format is another");
    for (const auto& [key, value] : content.at("entries").items()) entries[key] = entry_of(value);
  } catch (const NewerFormat& newer) {
    writable_ = false;
    spdlog::warn("{}: the tune cache has format {}, this version knows {}: it is left alone and what is measured is not kept; set "
                 "$QUARKSTAR_TUNE to another file", path_, newer.format, file_format);
  } catch (const std::exception& error) {
    entries.clear();
    if (damage == Damage::report) {
      spdlog::warn("{}: the tune cache is damaged ({}); what is missing is measured again, and the file goes to {}.damaged", path_,
                   error.what(), path_);
    } else {
      fs::rename(path_, path_ + ".damaged", ignored);
    }
  }
  return entries;
}

void TuneCache::write(const Entries& entries) const {
  json content = {{"format", file_format}, {"entries", json::object()}};
  for (const auto& [key, entry] : entries) content["entries"][key] = {{"choice", entry.choice}, {"microseconds", entry.microseconds}};
  AtomicFile file(path_);
  file.append(content.dump(1) + "\n");
  file.commit();
}

}  // namespace quarkstar::runtime
