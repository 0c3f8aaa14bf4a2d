#include "apps/lab/inputs.hpp"

#include "apps/simulation/machine_file.hpp"
#include "runtime/policy/policy_library.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/switch_variable.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace quarkstar::app::lab {

std::string Fnv1a::text() const { return fmt::format("{:016x}", hash_); }

std::string hash_of_file(const std::string& path) {
  std::error_code error;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, error))
    throw Error(ErrorKind::input, path, "cannot be read", "name a file that is there and can be read");
  Fnv1a hash;
  std::vector<char> part(std::size_t{1} << 20);
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())), stream.gcount() > 0)
    hash.add({part.data(), static_cast<std::size_t>(stream.gcount())});
  if (stream.bad()) throw Error(ErrorKind::input, path, "cannot be read to its end", "check the file and its disk");
  return hash.text();
}

Settings environment() {
  Settings all;
  const auto add = [&all](const char* variable) {
    if (const char* value = std::getenv(variable)) all.emplace_back(variable, value);
  };
  add("QUARKSTAR_ARCH");
  for (const char* variable : runtime::all_switches) add(variable);
  add("QUARKSTAR_TUNE");
  return all;
}

Settings inputs_of(const Plan& plan, const Settings& settings, const std::string& gauge, const std::string& gauge_hash) {
  Settings inputs{{"run", plan.workload == Workload::solve ? "solve" : "bench solver"}};
  if (!gauge.empty()) {
    if (plan.gauge.empty())
      inputs.insert(inputs.end(), {{"beta", fmt::format("{}", plan.beta)}, {"sweeps", fmt::format("{}", plan.sweeps)}});
    else inputs.emplace_back("gauge", gauge);
    inputs.emplace_back("gauge-hash", gauge_hash);
  }
  if (is_simulated(settings)) inputs.emplace_back("machine-hash", hash_of_file(machine_path(*find(settings, "machine"))));
  if (const std::string* policy = find(settings, "policy"); policy != nullptr && runtime::is_policy_library(*policy))
    inputs.emplace_back("policy-hash", hash_of_file(*policy));
  for (const auto& variable : environment()) inputs.push_back(variable);
  return inputs;
}

Settings bandwidth_inputs_of(const Plan& plan) {
  Settings inputs{{"array-mb", fmt::format("{}", plan.array_megabytes)}};
  for (const auto& variable : environment()) inputs.push_back(variable);
  return inputs;
}

}  // namespace quarkstar::app::lab
