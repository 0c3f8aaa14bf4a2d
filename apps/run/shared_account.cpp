#include "apps/run/shared_account.hpp"

#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <span>

namespace quarkstar::app {

void bring_into_order(std::vector<ColumnReport>& solves, const std::vector<SolveKey>& order) {
  const auto place = [&order](const ColumnReport& solve) {
    return std::find(order.begin(), order.end(), SolveKey{solve.column, solve.mass});
  };
  std::sort(solves.begin(), solves.end(), [&](const ColumnReport& a, const ColumnReport& b) { return place(a) < place(b); });
}

double idle_us_a_task(std::span<const runtime::Decomposition> islands, std::span<const SolveResult> results) {
  double idle = 0, tasks = 0;
  int owners = 0;
  for (const runtime::Decomposition& island : islands) owners += owner_count(island);
  for (const SolveResult& result : results) {
    idle += result.seconds * 1e6 * owners - result.busy_us;
    tasks += result.tasks;
  }
  runtime::mpi::Job::current().combine(std::span(&idle, 1), runtime::mpi::Combine::sum);
  return tasks > 0 ? std::max(0.0, idle) / tasks : 0;
}

SharedAccount::SharedAccount(runtime::Session& session, std::span<const runtime::Decomposition> islands)
    : session_(session),
      islands_(islands),
      meter_(session),
      before_(meter_.read()),
      busy_before_(session.events().totals().busy_us),
      start_(std::chrono::steady_clock::now()) {}

void SharedAccount::share(RunReport& report) {
  session_.wait_all();
  std::vector<ColumnReport*> solves;
  for (ColumnReport& solve : report.solves) solves.push_back(&solve);
  for (SequentialReport& sequential : report.sequential) solves.push_back(&sequential.solve);
  SolveResult whole;
  whole.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  whole.busy_us = session_.events().totals().busy_us - busy_before_;
  for (const ColumnReport* solve : solves) whole.tasks += solve->result.tasks;
  const runtime::Energy energy = meter_.since(before_, solves.size());
  const double idle_us = idle_us_a_task(islands_, std::span(&whole, 1));
  for (ColumnReport* solve : solves) {
    solve->result.seconds = whole.seconds / static_cast<double>(solves.size());
    solve->energy = energy;
    solve->idle_us = idle_us;
  }
}

}  // namespace quarkstar::app
