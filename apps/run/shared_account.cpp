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

void SharedAccount::share(std::vector<ColumnReport>& solves) {
  session_.wait_all();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  runtime::Energy energy = meter_.since(before_);
  SolveResult whole;
  whole.seconds = seconds;
  whole.busy_us = session_.events().totals().busy_us - busy_before_;
  for (const ColumnReport& solve : solves) whole.tasks += solve.result.tasks;
  const double idle_us = idle_us_a_task(islands_, std::span(&whole, 1));
  const auto count = static_cast<double>(solves.size());
  for (runtime::EnergyReading* reading : {&energy.cpu, &energy.gpu}) reading->joules /= count;
  for (ColumnReport& solve : solves) {
    solve.result.seconds = seconds / count;
    solve.energy = energy;
    solve.idle_us = idle_us;
  }
}

}  // namespace quarkstar::app
