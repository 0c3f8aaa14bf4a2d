#include "runtime/graph/segments.hpp"

#include "runtime/gpu/lane_schedule.hpp"
#include "runtime/graph/program.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/simulate/simulate.hpp"

#include <algorithm>
#include <memory>

namespace quarkstar::runtime {
namespace {

/// A step as one owner takes it: on its own copy of what every owner has.
Batch::Part part_on(const ScheduledStep& scheduled, const Program& whole, const std::vector<bool>& copied, int owner) {
  const Program::Step& step = whole.steps[static_cast<std::size_t>(scheduled.step)];
  Batch::Part part = step.part;
  part.placement.owner = owner;
  if (scheduled.device == 0) return part;
  part.counted = !part.placement.everywhere;
  for (std::size_t i = 0; i < part.accesses.size(); ++i)
    if (copied[static_cast<std::size_t>(step.buffers[i])]) part.accesses[i].handle = &part.accesses[i].handle->copy_of(owner);
  return part;
}

}  // namespace

bool can_join(const std::vector<Batch::Part>& parts) {
  const Session& session = Session::current();
  if (!session.keeps_owners() || has_messages(parts)) return false;
  if constexpr (simulate::active)
    if (simulate::machine().nodes > 1) return false;  // ranks of several nodes have messages between their tasks
  if (session.gpu_count() == 0 && !session.options().join_on_cpus) return false;
  const std::vector<int> owners = owners_of(parts);
  const auto is_gpu = [&](int owner) { return owner < session.gpu_count(); };
  if (owners.size() < 2 || (!session.options().join_on_cpus && std::none_of(owners.begin(), owners.end(), is_gpu))) return false;
  return std::all_of(parts.begin(), parts.end(), [&](const Batch::Part& part) {
    return part.codelet->cuda() != nullptr || !(part.placement.everywhere ? is_gpu(owners.front()) : is_gpu(part.placement.owner));
  });
}

bool submit_joined(const Codelet& codelet, const std::vector<Batch::Part>& parts) {
  const std::vector<int> owners = owners_of(parts);
  const Program whole(parts);
  constexpr bool side_lanes = false;  // a worker runs one task at a time
  const auto schedule =
      schedule_lanes(schedule_steps(whole, owners), static_cast<int>(owners.size()), static_cast<int>(whole.accesses.size()), side_lanes);
  if (!schedule) return false;
  for (std::size_t buffer = 0; buffer < whole.accesses.size(); ++buffer) {
    if (!schedule->copied[buffer] || whole.accesses[buffer].mode == Access::Mode::out) continue;
    const Handle& original = *whole.accesses[buffer].handle;
    for (std::size_t device = 1; device < owners.size(); ++device)
      detail::submit_copy(original.copy_of(owners[device]), original, original.bytes(), owners[device]);
  }
  for (const LaneSegment& segment : segments_of(*schedule)) {
    std::vector<Batch::Part> joined;
    for (const int number : segment.steps) {
      const ScheduledStep& scheduled = schedule->steps[static_cast<std::size_t>(number)];
      joined.push_back(part_on(scheduled, whole, schedule->copied, owners[static_cast<std::size_t>(scheduled.device)]));
    }
    submit_program(codelet, std::make_unique<Program>(joined));
  }
  return true;
}

}  // namespace quarkstar::runtime
