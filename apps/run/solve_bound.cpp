#include "apps/run/solve_bound.hpp"

#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace quarkstar::app {

using Kind = runtime::Worker::Kind;

BoundMeter::BoundMeter(runtime::Session& session) : session_(session) {
  if (runtime::mpi::Job::current().is_distributed())
    throw Error(ErrorKind::input, Parameter("bound"), "the bounds are of one rank's graph", "leave it out, or run on one rank");
  for (int worker = 0; worker < session.events().workers(); ++worker) before_.push_back(session.events().lifetime(worker));
  session.events().watch_rates(true);
}

BoundMeter::~BoundMeter() { session_.events().watch_rates(false); }

BoundReport BoundMeter::ended(double seconds, double bytes) const {
  BoundReport report;
  const double recorded = recording_.graph().total().bytes;
  double counted = 0;
  for (int worker = 0; worker < session_.events().workers(); ++worker) {
    const runtime::Events::Lifetime now = session_.events().lifetime(worker), before = before_[static_cast<std::size_t>(worker)];
    const double moving_us = now.moving_us - before.moving_us, worker_bytes = now.bytes - before.bytes;
    counted += worker_bytes;
    report.workers_gbs.push_back(moving_us > 0 ? 1e-3 * worker_bytes / moving_us : 0);
  }
  if (!(recorded > 0) || !(counted > 0) || !(bytes > 0)) return report;
  runtime::WorkerKind cpu{false, 0, 0}, cuda{true, 0, 0};
  for (std::size_t worker = 0; worker < report.workers_gbs.size(); ++worker) {
    // A GPU counts the tasks of a stopped graph as if they had moved their bytes.
    const double done = std::min(1.0, bytes / counted);
    report.workers_gbs[worker] *= done;
    if (!(report.workers_gbs[worker] > 0)) continue;
    const bool is_cpu = session_.worker(static_cast<int>(worker)).kind == Kind::cpu;
    runtime::WorkerKind& kind = is_cpu ? cpu : cuda;
    ++kind.workers;
    for (const auto& [codelet, rate] : session_.events().rates(static_cast<int>(worker))) {
      // What a stopped GPU skips would be its fastest task.
      double& best = kind.rates[codelet];
      best = std::max(best, is_cpu ? rate.best_gbs : done * 1e-3 * rate.bytes / rate.us);
      kind.gbs = std::max(kind.gbs, best);
    }
  }
  const runtime::WorkerKind kinds[] = {cpu, cuda};
  runtime::Bounds bounds;
  try {
    const runtime::Owners owners = runtime::owners_and_ways(session_);
    bounds = runtime::lower_bounds(recording_.graph(), kinds, 0, session_.keeps_owners() ? &owners : nullptr);
  } catch (const Error& error) {  // the solve has come to its end, and its results are worth more than this figure
    spdlog::warn("--bound: no bound is reported: {}", error.what());
    return report;
  }
  const double scale = 1e-6 * bytes / recorded;
  report.bandwidth_seconds = scale * bounds.bandwidth_us;
  report.critical_path_seconds = scale * bounds.critical_path_us;
  report.assignment_seconds = scale * bounds.assignment_us;
  report.owners_seconds = scale * bounds.owners_us;
  report.time_over_bound = seconds / (scale * bounds.best());
  return report;
}

}  // namespace quarkstar::app
