#pragma once
// Runs the running program again from its beginning.
#include <string>
#include <vector>

namespace quarkstar::runtime {

/// What a process was given at its start: environment, cores, signals. Made before anything is changed of it.
class BeginAnew {
 public:
  BeginAnew();
  /// Runs the program from its beginning, in this process, with its arguments and further ones behind them; what it was doing is
  /// lost. `variables`, "NAME=value", replace those of its environment. For any thread. Returns where the system refuses.
  void with(const std::vector<std::string>& further, const std::vector<std::string>& variables = {}) const;

 private:
  std::vector<std::string> arguments_, environment_;
  std::vector<unsigned long> cores_;  ///< a bit for each that the kernel may know; empty: not known
};

}  // namespace quarkstar::runtime
