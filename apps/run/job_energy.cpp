#include "apps/run/job_energy.hpp"

#include "apps/run/report.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {
namespace {

using runtime::EnergyReading;
using runtime::mpi::Job;

/// The session's GPUs but for those that a lower rank of this host uses too.
std::vector<std::string> gpus_counted_here(const runtime::Session& session) {
  Job& job = Job::current();
  std::vector<std::string> mine = gpu_bus_ids(session);
  const std::vector<std::string> all = job.gather_text(fmt::format("{}", fmt::join(mine, " ")));
  const auto host_of = [&job](int rank) { return job.machines()[static_cast<std::size_t>(rank)]; };
  for (int rank = 0; rank < job.rank(); ++rank)
    if (host_of(rank) == host_of(job.rank()))
      std::erase_if(mine, [&](const std::string& gpu) { return all[static_cast<std::size_t>(rank)].find(gpu) != std::string::npos; });
  return mine;
}

EnergyReading over_ranks(const EnergyReading& mine, bool counts) {
  Job& job = Job::current();
  if (!job.is_distributed()) return mine;
  struct Part {
    bool counts, available;
    double joules;
  };
  const std::vector<Part> parts = job.gather(Part{counts, mine.available(), mine.joules});
  const std::vector<std::string> reasons = job.gather_text(mine.unavailable);
  EnergyReading total;
  bool counted = false;
  for (int rank = 0; rank < job.size(); ++rank) {
    const Part& part = parts[static_cast<std::size_t>(rank)];
    if (!part.counts) continue;
    if (!part.available) return {0, fmt::format("{}: {}", job.name_of(rank), reasons[static_cast<std::size_t>(rank)])};
    counted = true;
    total.joules += part.joules;
  }
  return counted ? total : mine;
}

}  // namespace

JobEnergyMeter::JobEnergyMeter(const runtime::Session& session) : JobEnergyMeter(gpus_counted_here(session)) {}

JobEnergyMeter::JobEnergyMeter(const std::vector<std::string>& gpus)
    : counts_cpus_(Job::current().share_of("CPU energy").index == 0),
      counts_gpus_(!gpus.empty()),
      meter_(std::async(std::launch::async, [gpus] { return std::make_unique<runtime::EnergyMeter>(gpus); })) {}

runtime::Energy JobEnergyMeter::since(const runtime::Energy& before, std::size_t shares) {
  const runtime::Energy mine = read() - before;
  runtime::Energy share{over_ranks(mine.cpu, counts_cpus_), over_ranks(mine.gpu, counts_gpus_)};
  for (EnergyReading* reading : {&share.cpu, &share.gpu}) reading->joules /= static_cast<double>(shares);
  return share;
}

}  // namespace quarkstar::app
