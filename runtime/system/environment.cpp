#include "runtime/system/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::runtime {
namespace {

/// All environments that there have been, and their entries. Threads of others may be reading any of them, so none is changed or freed; one
/// that comes again is used again.
struct Environments {
  std::mutex mutex;
  std::set<std::string, std::less<>> entries;
  std::deque<std::vector<char*>> arrays;
};
Environments& environments() {
  static Environments& all = *new Environments;
  return all;
}

bool is_of(const char* entry, const std::string& name) {
  return std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=';
}

/// As setenv() or unsetenv(), which move the entries of the array that others read.
void change(const std::string& name, const std::optional<std::string>& value) {
  Environments& all = environments();
  const std::lock_guard lock(all.mutex);
  char* fresh = value ? const_cast<char*>(all.entries.insert(name + "=" + *value).first->c_str()) : nullptr;
  std::vector<char*> next;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_of(*entry, name)) next.push_back(*entry);
    else if (fresh != nullptr) next.push_back(std::exchange(fresh, nullptr));
  }
  if (fresh != nullptr) next.push_back(fresh);
  next.push_back(nullptr);
  for (std::vector<char*>& before : all.arrays)
    if (before == next) return __atomic_store_n(&environ, before.data(), __ATOMIC_RELEASE);
  __atomic_store_n(&environ, all.arrays.emplace_back(std::move(next)).data(), __ATOMIC_RELEASE);
}

}  // namespace

EnvironmentChanges::~EnvironmentChanges() {
  for (const auto& [name, value] : before_) change(name, value);
}

void EnvironmentChanges::keep(const char* name) {
  const char* value = std::getenv(name);
  before_.emplace(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
}

void EnvironmentChanges::set(const char* name, const std::string& value) {
  keep(name);
  change(name, value);
}

void EnvironmentChanges::set_if_absent(const char* name, const std::string& value) {
  if (std::getenv(name) == nullptr) set(name, value);
}

void EnvironmentChanges::unset(const char* name) {
  if (std::getenv(name) == nullptr) return;
  keep(name);
  change(name, std::nullopt);
}

}  // namespace quarkstar::runtime
