#include "apps/campaign/time_spent.hpp"

#include "apps/campaign/plan.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::campaign {

std::string text_of(const TimeSpent& spent) {
  std::string parts = fmt::format("set-ups {}, solves {}", duration_text(spent.set_ups), duration_text(spent.solves));
  if (spent.at_once) parts += ", added up over those at once";
  else
    parts += fmt::format(", the rest (contractions, files, measurements, waiting) {}",
                         duration_text(std::max(0.0, spent.seconds - spent.solves - spent.set_ups)));
  double bytes = 0;
  for (const TimeSpent::Worker& worker : spent.workers) bytes += worker.bytes;
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  std::vector<std::string> workers;
  for (const TimeSpent::Worker& worker : spent.workers)
    workers.push_back(fmt::format("{} busy {:.0f} %, {:.0f} % of the work", worker.name, percent(worker.busy, spent.seconds),
                                  percent(worker.bytes, bytes)));
  const std::string helper = spent.helped > 0 ? fmt::format("helper: {} rows\n", spent.helped) : "";
  return fmt::format("time: {}: {}\nworkers{}: {}\n{}", duration_text(spent.seconds), parts,
                     runtime::mpi::Job::current().is_distributed() ? " of rank 0" : "", fmt::join(workers, "; "), helper);
}

TimeAccount::TimeAccount(runtime::Session& session) : session_(session), before_(workers()) {}

std::vector<TimeSpent::Worker> TimeAccount::workers() const {
  std::vector<TimeSpent::Worker> workers;
  for (int id = 0; id < static_cast<int>(session_.workers().size()); ++id) {
    const runtime::Events::Lifetime lifetime = session_.events().lifetime(id);
    workers.push_back({session_.workers()[static_cast<std::size_t>(id)].name, 1e-6 * lifetime.busy_us, lifetime.bytes});
  }
  return workers;
}

void TimeAccount::add(std::span<const RunReport> reports, bool at_once) {
  at_once_ = at_once_ || at_once;
  if (!reports.empty()) set_ups_ += reports.front().setup.seconds();
  for (const RunReport& report : reports) {
    for (const ColumnReport& column : report.solves) solves_ += column.result.seconds;
    for (const SequentialReport& column : report.sequential) solves_ += column.solve.result.seconds;
  }
}

TimeSpent TimeAccount::spent() const {
  TimeSpent spent{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(), set_ups_, solves_, at_once_, workers()};
  for (std::size_t id = 0; id < spent.workers.size(); ++id) {
    spent.workers[id].busy -= before_[id].busy;
    spent.workers[id].bytes -= before_[id].bytes;
  }
  return spent;
}

}  // namespace quarkstar::app::campaign
