#include "runtime/system/environment.hpp"

#include <cstdlib>

namespace quarkstar::runtime {

EnvironmentChanges::~EnvironmentChanges() {
  for (const auto& [name, value] : before_) {
    if (value) setenv(name.c_str(), value->c_str(), 1);
    else unsetenv(name.c_str());
  }
}

void EnvironmentChanges::keep(const char* name) {
  const char* value = std::getenv(name);
  before_.emplace(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
}

void EnvironmentChanges::set(const char* name, const std::string& value) {
  keep(name);
  setenv(name, value.c_str(), 1);
}

void EnvironmentChanges::set_if_absent(const char* name, const std::string& value) {
  if (std::getenv(name) == nullptr) set(name, value);
}

void EnvironmentChanges::unset(const char* name) {
  keep(name);
  unsetenv(name);
}

}  // namespace quarkstar::runtime
