#pragma once
// Energy of all the machines that a job runs on.
#include "runtime/graph/session.hpp"
#include "runtime/observe/energy.hpp"

#include <future>
#include <memory>

namespace quarkstar::app {

/// The CPUs of every host and the GPUs of every rank's session, each counted once, by the first rank that has it. All ranks make one, and
/// all call since().
class JobEnergyMeter {
 public:
  explicit JobEnergyMeter(const runtime::Session& session);

  /// This rank's counters so far.
  runtime::Energy read() { return meter_.get()->read(); }
  /// Of all ranks since `before`, a reading of this rank's: one of so many equal shares. CPU or GPU energy is unavailable where a rank that
  /// counts it cannot read it.
  runtime::Energy since(const runtime::Energy& before, std::size_t shares);

 private:
  explicit JobEnergyMeter(const std::vector<std::string>& gpus);

  bool counts_cpus_, counts_gpus_;
  std::shared_future<std::unique_ptr<runtime::EnergyMeter>> meter_;  ///< a thread opens it: those of GPUs take 20 ms
};

}  // namespace quarkstar::app
