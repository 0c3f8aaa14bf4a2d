#pragma once
// Time and energy of solves that were in flight together.
#include "apps/run/job_energy.hpp"
#include "apps/run/report.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace quarkstar::app {

/// A solve's column and, where results name it, its mass, as in ColumnReport.
struct SolveKey {
  int column;
  std::optional<double> mass = {};
  bool operator==(const SolveKey&) const = default;
};

/// Brings solves that ended in any order into this one.
void bring_into_order(std::vector<ColumnReport>& solves, const std::vector<SolveKey>& order);

/// Time that the owners of blocks spent outside StarPU's tasks during these solves, microseconds a task, over all ranks, which must all
/// call.
double idle_us_a_task(std::span<const runtime::Decomposition> islands, std::span<const SolveResult> results);

/// From its construction on it measures the whole of them; each then gets an equal share. Under MPI all ranks make one and share together.
class SharedAccount {
 public:
  SharedAccount(runtime::Session& session, std::span<const runtime::Decomposition> islands);

  /// Gives each solve of the report, sequential ones too, its share of seconds, joules and idle time. Waits for all tasks.
  void share(RunReport& report);

 private:
  runtime::Session& session_;
  std::span<const runtime::Decomposition> islands_;
  JobEnergyMeter meter_;
  runtime::Energy before_;
  double busy_before_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace quarkstar::app
