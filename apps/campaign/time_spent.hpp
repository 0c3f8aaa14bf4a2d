#pragma once
// Where the time of a campaign goes: a solver is fast only as far as a run keeps its devices busy.
#include "apps/run/report.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app::campaign {

/// All configurations that a run computes, from the beginning of the first to the end of the last.
struct TimeSpent {
  /// Of this rank. busy: seconds in tasks, on a GPU from the first kernel of a batch to its last; bytes: of the tasks' cost.
  struct Worker {
    std::string name;
    double busy = 0, bytes = 0;
  };
  double seconds = 0;
  double set_ups = 0;    ///< until links and the first operator are where solves need them: sum over the quarks
  double solves = 0;     ///< sum over the groups of right-hand sides
  bool at_once = false;  ///< several groups were at work at once, each with the whole time
  std::vector<Worker> workers;
  int helped = 0;  ///< rows that the campaign's helper has computed
};
/// Two lines: the parts of the time; each worker's busy part of it, and its part of the bytes that all of them moved. A third one of a
/// helper that has done something.
std::string text_of(const TimeSpent& spent);

/// Counts from its construction on.
class TimeAccount {
 public:
  explicit TimeAccount(runtime::Session& session);
  /// What has come of the sources of one quark, which are set up together.
  void add(std::span<const RunReport> reports, bool at_once);
  TimeSpent spent() const;

 private:
  std::vector<TimeSpent::Worker> workers() const;

  runtime::Session& session_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<TimeSpent::Worker> before_;
  double set_ups_ = 0, solves_ = 0;
  bool at_once_ = false;
};

}  // namespace quarkstar::app::campaign
