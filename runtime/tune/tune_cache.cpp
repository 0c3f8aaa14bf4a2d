#include "runtime/tune/tune_cache.hpp"

#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"
#include "runtime/tune/file_lock.hpp"
#include "runtime/tune/tune_file.hpp"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

TuneCache::TuneCache(std::string path) : path_(std::move(path)) { entries_ = read(Damage::report).entries(); }

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
    const FileLock lock(path_ + ".lock");
    if (fs::exists(path_)) {
      if (!fs::is_regular_file(path_)) throw std::runtime_error("it is not a file");
      if (!std::ifstream(path_)) throw std::runtime_error("it cannot be read");
    }
    TuneFile all = read(Damage::put_aside);
    if (!writable_) return;
    all.put(key, entry);
    AtomicFile file(path_);
    file.append(all.text());
    file.commit();
    std::map<std::string, TuneEntry> known = all.entries();
    known.merge(entries_);  // what others have measured meanwhile, and what an unwritable file has kept from us
    entries_ = std::move(known);
  } catch (const std::exception& error) {
    spdlog::warn("{}: the tune cache cannot be written ({}); set $QUARKSTAR_TUNE to a file that can", path_, error.what());
    writable_ = false;
  }
}

TuneFile TuneCache::read(Damage damage) {
  std::error_code ignored;
  if (!fs::is_regular_file(path_, ignored)) return {};
  std::ifstream file(path_, std::ios::binary);
  if (!file) return {};
  try {
    return TuneFile(std::string{std::istreambuf_iterator<char>(file), {}});
  } catch (const TuneFileNewer& newer) {
    writable_ = false;
    spdlog::warn(
        "{}: the tune cache has format {}, this version knows {}: it is left alone and what is measured is not kept; set "
        "$QUARKSTAR_TUNE to another file",
        path_, newer.format, TuneFile::format);
  } catch (const TuneFileDamage& error) {
    if (damage == Damage::report) {
      spdlog::warn("{}, line {}: the tune cache is damaged ({}); what is missing is measured again, and the file goes to {}.damaged", path_,
                   error.line, error.what(), path_);
    } else {
      fs::rename(path_, path_ + ".damaged", ignored);
    }
  }
  return {};
}

}  // namespace quarkstar::runtime
