#include "apps/run/adaptive_cut.hpp"

#include "apps/run/device_plan.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>

namespace quarkstar::app {
namespace {

/// Bytes of the fields that live on GPUs.
double bytes_on_gpus(const std::vector<MemoryNeed>& memory) {
  double bytes = 0;
  for (const MemoryNeed& need : memory)
    if (need.gpu) bytes += need.fields.total();
  return bytes;
}

std::function<int(int, int)> thickest_parts(const runtime::Session& session, const Coord& lattice, double bytes) {
  const PlanningProblem problem{lattice, [=](int mu) { return bytes / lattice[static_cast<std::size_t>(mu)]; }, {}};
  return [owners = owners_of(session), problem](int worker, int direction) {
    return thickest_part(owners[static_cast<std::size_t>(worker)], problem, direction);
  };
}

/// "8x8x8x32 in 1x1x1x2 blocks: 8x8x8x24 on worker 0, 8x8x8x8 on worker 1".
std::string cut_text(const runtime::Decomposition& decomposition) {
  std::string text = decomposition.describe();
  for (const runtime::Block& block : decomposition.blocks())
    text += fmt::format("{}{} on worker {}", block.index == 0 ? ": " : ", ", fmt::join(block.extents, "x"), block.owner);
  return text;
}

}  // namespace

AdaptiveCut::AdaptiveCut(runtime::Session& session, const Coord& lattice, int thinnest, const std::vector<MemoryNeed>& memory,
                         const Coord& domain)
    : session_(session),
      watches_(session.options().policy == "adaptive" && !runtime::mpi::Job::current().is_distributed()),
      resplitter_(thinnest, thickest_parts(session, lattice, bytes_on_gpus(memory)), domain) {}

std::vector<double> AdaptiveCut::busy_seconds() const {
  std::vector<double> seconds;
  for (int worker = 0; worker < static_cast<int>(session_.workers().size()); ++worker)
    seconds.push_back(1e-6 * session_.events().lifetime(worker).busy_us);
  return seconds;
}

void AdaptiveCut::begins() { busy_before_ = busy_seconds(); }
void AdaptiveCut::ends() { busy_after_ = busy_seconds(); }

std::optional<runtime::Decomposition> AdaptiveCut::proposes(const runtime::Decomposition& now, double seconds, int together, int remaining,
                                                            double migration_seconds) {
  solves_ += together;
  if (!watches_) return {};
  std::vector<double> busy = busy_after_;
  for (std::size_t worker = 0; worker < busy.size(); ++worker) busy[worker] = (busy[worker] - busy_before_[worker]) / together;
  resplitter_.solved(now, busy, seconds / together);
  const std::optional<runtime::Resplit> better = resplitter_.propose(now, remaining, migration_seconds);
  if (!better) return {};
  resplits_.push_back({solves_, cut_text(better->decomposition), better->seconds_before, better->seconds_after, migration_seconds});
  return better->decomposition;
}

}  // namespace quarkstar::app
