#pragma once
// What tests of environment variables share.
#include <cstdlib>
#include <optional>
#include <string>

namespace quarkstar::testing {

/// An environment variable has a value (nullptr: is unset) while this lives; then it is as before.
class Environment {
 public:
  Environment(const char* variable, const char* value) : variable_(variable) {
    if (const char* before = std::getenv(variable)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) ::setenv(variable_, value, 1);
    else ::unsetenv(variable_);
  }

  const char* variable_;
  std::optional<std::string> before_;
};

}  // namespace quarkstar::testing
