#pragma once
// What one run of the laboratory told: read from the JSON that `quarkstar solve` or `bench solver` wrote, kept as one line of the journal.
#include "apps/lab/plan.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

using Json = nlohmann::ordered_json;

/// Seconds of one worker during a solve; what was not measured is absent.
struct WorkerTimes {
  std::string name, kind;
  std::optional<double> busy, idle, overhead, transfer, total;
};

/// Bytes from one memory to another during a solve.
struct LinkBytes {
  std::string from, to;
  double bytes = 0;
};

/// The residuals of one right-hand side.
struct History {
  int column = 0;
  std::optional<double> mass;
  std::int64_t length = 0;
  std::string bits;  ///< hash of the bits of all residuals
};

/// What was measured, summed over the right-hand sides of the run. Absent: the run could not tell.
struct Results {
  std::optional<double> seconds, setup_seconds;
  std::optional<double> bound_seconds;  ///< no schedule is faster
  std::string bound;                    ///< what that bound is
  std::optional<double> iterations, flops, bytes, tasks;
  std::optional<double> us_per_task;  ///< time of the owners outside kernels, per task
  std::optional<double> joules;
  std::string no_joules;  ///< why there are none
  std::string machine;    ///< processor and GPUs that it ran on: a journal may have been carried from elsewhere
  std::vector<WorkerTimes> workers;
  std::vector<LinkBytes> links;
  std::vector<History> histories;

  std::optional<double> gflops() const { return flops && seconds && *seconds > 0 ? std::optional(*flops / *seconds * 1e-9) : std::nullopt; }
  std::optional<double> gbs() const { return bytes && seconds && *seconds > 0 ? std::optional(*bytes / *seconds * 1e-9) : std::nullopt; }
  /// Time over the bound, 1 at best.
  std::optional<double> over_bound() const {
    return seconds && bound_seconds && *bound_seconds > 0 ? std::optional(*seconds / *bound_seconds) : std::nullopt;
  }
  /// Joules times seconds.
  std::optional<double> energy_delay() const { return joules && seconds ? std::optional(*joules * *seconds) : std::nullopt; }
};

/// How a run ended.
enum class RunStatus { ok, failed, time_limit };
std::string_view name_of(RunStatus status);

/// One line of the journal.
struct Record {
  RunKind kind = RunKind::measured;
  Settings settings, varying;
  Settings inputs;  ///< what it depended on besides its settings (inputs.hpp)
  int repetition = 0;
  int number = 0;  ///< in the order in which runs were started, 1, 2, ...
  RunStatus status = RunStatus::ok;
  std::string message;      ///< of a run that failed
  std::string started;      ///< UTC
  std::string built_with;   ///< versions of the executable that ran it
  std::string trace;        ///< name of the trace file, in the folder of the journal
  double wall_seconds = 0;  ///< of the whole process
  Results results;

  bool ok() const { return status == RunStatus::ok; }
  /// "run 17 (policy=eager, repetition 2)"
  std::string name() const;
  /// Whether it is what was planned, of the same inputs, by the same program.
  bool is(const Cell& cell, const PlannedRun& run) const;
};

/// 16 hexadecimal digits that depend on every bit and the order of the numbers (Fnv1a over their 8 bytes, lowest first).
std::string hash_of(const std::vector<double>& values);

/// From the JSON of `solve --residual-history`. Throws nlohmann's exceptions where it is not such a file.
Results results_of_solve(const Json& json);
/// From those of a run for several sources. Their solves overlap, so the time is `wall_seconds`, of the whole process, contractions and
/// files included, and no bound is told.
Results results_of_sources(std::vector<Json> parts, double wall_seconds);
/// From the JSON of `bench solver`: the first row of the devices that were asked for, which come last; no histories.
Results results_of_bench(const Json& json);

/// An object of texts, in order.
Json settings_json(const Settings& settings);
/// Throws nlohmann's exceptions for anything else.
Settings settings_of(const Json& json);

Json to_json(const Record& record);
/// Throws nlohmann's exceptions for a line that to_json() did not write.
Record record_of(const Json& json);

}  // namespace quarkstar::app::lab
