#pragma once
// Variables of this process's environment that are set for a time.
#include <map>
#include <optional>
#include <string>

namespace quarkstar::runtime {

/// Gives every variable that was set through it its value of before when it goes. Other threads may read the environment meanwhile, and see
/// it as it is or was; none may change it.
class EnvironmentChanges {
 public:
  EnvironmentChanges() = default;
  ~EnvironmentChanges();
  EnvironmentChanges(const EnvironmentChanges&) = delete;
  EnvironmentChanges& operator=(const EnvironmentChanges&) = delete;

  void set(const char* name, const std::string& value);
  /// Where it has no value.
  void set_if_absent(const char* name, const std::string& value);
  void unset(const char* name);

 private:
  void keep(const char* name);
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace quarkstar::runtime
