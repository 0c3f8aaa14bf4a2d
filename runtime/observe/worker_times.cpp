#include "runtime/observe/worker_times.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/observe/bound.hpp"

#include <starpu.h>
#include <starpu_profiling.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::runtime {
namespace {

double seconds(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

std::string memory_name(int node) {
  char name[64];
  starpu_memory_node_get_name(static_cast<unsigned>(node), name, sizeof name);
  return name;
}

/// Tasks, busy time and bytes since the session began.
WorkerTimes counted(Session& session, int worker) {
  const Events::Lifetime lifetime = session.events().lifetime(worker);
  WorkerTimes times;
  times.tasks = lifetime.executed;
  times.busy = 1e-6 * lifetime.busy_us;
  times.bytes = lifetime.bytes;
  return times;
}

}  // namespace

Owners owners_and_ways(const Session& session) {
  Owners owners;
  for (int worker = 0; worker < static_cast<int>(session.workers().size()); ++worker)
    owners.workers.push_back({session.worker(worker).kind == Worker::Kind::cuda,
                              static_cast<int>(starpu_worker_get_memory_node(static_cast<unsigned>(worker)))});
  const unsigned memories = starpu_memory_nodes_get_count();
  owners.gbs.assign(memories, std::vector<double>(memories));
  for (unsigned to = 0; to < memories; ++to)
    for (unsigned from = 0; from < memories; ++from) {
      const double megabytes = from != to ? starpu_transfer_bandwidth(from, to) : 0;  // a second
      owners.gbs[to][from] = std::isfinite(megabytes) ? std::max(0.0, 1e-3 * megabytes) : 0;
    }
  return owners;
}

WorkerProfile::WorkerProfile(Session& session) : session_(session) {
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  restart();
}

WorkerProfile::~WorkerProfile() { starpu_profiling_status_set(STARPU_PROFILING_DISABLE); }

void WorkerProfile::restart() {
  collect();  // StarPU's counters are zero after every look
  times_.assign(session_.workers().size(), {});
  for (LinkTraffic& link : links_) link.bytes = 0, link.transfers = 0;
  at_start_.clear();
  for (int worker = 0; worker < static_cast<int>(session_.workers().size()); ++worker) at_start_.push_back(counted(session_, worker));
}

void WorkerProfile::collect() {
  times_.resize(session_.workers().size());
  for (std::size_t worker = 0; worker < times_.size(); ++worker) {
    starpu_profiling_worker_info info{};
    starpu_profiling_worker_get_info(static_cast<int>(worker), &info);
    times_[worker].total += seconds(info.total_time);
    times_[worker].transfer += seconds(info.waiting_time);
    times_[worker].overhead += seconds(info.scheduling_time) + seconds(info.callback_time);
  }
  links_.resize(static_cast<std::size_t>(starpu_bus_get_count()));
  for (std::size_t bus = 0; bus < links_.size(); ++bus) {
    LinkTraffic& link = links_[bus];
    const int id = static_cast<int>(bus);
    starpu_profiling_bus_info info{};
    starpu_bus_get_profiling_info(id, &info);
    link.from = memory_name(starpu_bus_get_src(id));
    link.to = memory_name(starpu_bus_get_dst(id));
    link.bytes += static_cast<double>(info.transferred_bytes);
    link.transfers += info.transfer_count;
  }
}

std::vector<WorkerTimes> WorkerProfile::times() {
  collect();
  std::vector<WorkerTimes> times = times_;
  for (std::size_t worker = 0; worker < times.size(); ++worker) {
    const WorkerTimes now = counted(session_, static_cast<int>(worker));
    WorkerTimes& t = times[worker];
    t.tasks = now.tasks - at_start_[worker].tasks;
    t.busy = now.busy - at_start_[worker].busy;
    t.bytes = now.bytes - at_start_[worker].bytes;
    t.total = std::max(t.total, t.busy);
    // Clocks are read at different places, and a GPU's kernels run while its worker prepares the next task: busy time counts first.
    t.transfer = std::min(t.transfer, t.total - t.busy);
    t.overhead = std::min(t.overhead, t.total - t.busy - t.transfer);
    t.idle = t.total - t.busy - t.transfer - t.overhead;
  }
  return times;
}

std::vector<LinkTraffic> WorkerProfile::links() {
  collect();
  std::vector<LinkTraffic> used;
  std::copy_if(links_.begin(), links_.end(), std::back_inserter(used), [](const LinkTraffic& link) { return link.transfers > 0; });
  return used;
}

}  // namespace quarkstar::runtime
