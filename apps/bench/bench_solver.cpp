#include "apps/bench/bench_solver.hpp"

#include "apps/run/solve_bound.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/system/clock.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace quarkstar::app {
namespace {

/// Where the time of a task belongs.
double& part_of(SolverTiming& timing, runtime::CodeletKind kind) {
  using Kind = runtime::CodeletKind;
  if (kind == Kind::copy) return timing.conversion_us;
  if (kind == Kind::vector) return timing.blas_us;
  if (kind == Kind::stencil || kind == Kind::pack) return timing.dslash_us;
  return timing.scalars_us;
}

}  // namespace

void time_parts(SolverTiming& timing, runtime::Session& session, const runtime::Decomposition& decomposition,
                const std::function<void()>& solve) {
  session.events().reset();
  timing.has_parts = session.gpu_count() == 0 || (owner_count(decomposition) == 1 && !decomposition.is_distributed());
  if (!timing.has_parts) return;
  session.events().set_detail(runtime::Events::Detail::parts);
  solve();
  const int owners = owner_count(decomposition);  // fewer than may own, where there are fewer blocks
  for (int worker = 0; worker < session.block_owners(); ++worker)
    for (const runtime::Event& event : session.events().of_worker(worker))
      part_of(timing, event.kind) += (event.end_us - event.begin_us) / timing.iterations / owners;
  session.events().set_detail(runtime::Events::Detail::totals);
  session.events().reset();
}

namespace {

void find_bound(SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve, const std::function<double()>& bytes) {
  std::optional<BoundMeter> meter;
  double start = 0;
  solve([&] {
    meter.emplace(session);
    start = runtime::now_us();
  });
  const BoundReport bound = meter->ended((runtime::now_us() - start) * 1e-6, bytes());
  timing.bound_us = 1e6 * std::max({bound.bandwidth_seconds, bound.critical_path_seconds, bound.assignment_seconds, bound.owners_seconds}) /
                    timing.iterations;
}

void profile_workers(SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve) {
  std::optional<runtime::WorkerProfile> profile;
  solve([&] { profile.emplace(session); });
  const std::vector<runtime::WorkerTimes> times = profile->times();
  for (std::size_t w = 0; w < times.size(); ++w) {
    const runtime::Worker& worker = session.worker(static_cast<int>(w));
    timing.workers.push_back({worker.name, worker.kind == runtime::Worker::Kind::cuda, times[w]});
  }
  timing.links = profile->links();
}

void trace_tasks(const std::string& file, runtime::Session& session, const WatchedSolve& solve) {
  solve([&] {
    session.events().reset();
    session.events().set_detail(runtime::Events::Detail::tasks);
  });
  runtime::write_chrome_trace(session, session.events(), file);
  session.events().set_detail(runtime::Events::Detail::totals);
  session.events().reset();
}

}  // namespace

void run_extra_solves(const ExtraSolves& extra, SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve,
                      const std::function<double()>& bytes) {
  if (extra.bound) find_bound(timing, session, solve, bytes);
  if (extra.profile) profile_workers(timing, session, solve);
  if (!extra.trace.empty()) trace_tasks(extra.trace, session, solve);
}

}  // namespace quarkstar::app
