#pragma once
// What a run depends on besides its settings: a journal's runs are only those of a plan where these are the same.
#include "apps/lab/plan.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace quarkstar::app::lab {

/// 64-bit FNV-1a over bytes, one after the other.
class Fnv1a {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  /// 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// Of the bytes of a file; cost: reading it, about a second a gigabyte. Throws Error(input) naming the file where it cannot be read.
std::string hash_of_file(const std::string& path);

/// The environment variables that change what a run does, those that are set.
Settings environment();

/// Of a run: its command, the configuration (`gauge` and its hash; how it was made, unless the plan names it), the contents of the machine
/// file and of the policy's shared library that its settings name, environment(). gauge_hash: of the file `gauge`; both empty where none is
/// read.
Settings inputs_of(const Plan& plan, const Settings& settings, const std::string& gauge, const std::string& gauge_hash);

/// Of a measurement of the memory's bandwidth.
Settings bandwidth_inputs_of(const Plan& plan);

}  // namespace quarkstar::app::lab
