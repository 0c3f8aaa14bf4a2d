#include "runtime/graph/program.hpp"

#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/graph_status.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/observe/kernel_marks.hpp"

#include <algorithm>
#include <map>

namespace quarkstar::runtime {

Program::Program(const std::vector<Batch::Part>& parts, const Replays& replays) : most_replays(replays.most) {
  struct Use {
    int number;
    Access::Mode mode;
  };
  std::map<const void*, Use> uses;
  for (const Batch::Part& part : parts) {
    Step step{part, {}};
    cost.flops += part.cost.flops;
    cost.bytes += part.cost.bytes;
    for (const Access& access : part.accesses) {
      const auto [at, fresh] = uses.try_emplace(access.handle->state(), Use{static_cast<int>(accesses.size()), access.mode});
      if (fresh) accesses.push_back(access);
      // Written first: the old contents are not needed, whatever follows. Read first and written later: both.
      else if (at->second.mode == Access::Mode::in && access.mode != Access::Mode::in)
        at->second.mode = accesses[static_cast<std::size_t>(at->second.number)].mode = Access::Mode::inout;
      step.buffers.push_back(at->second.number);
    }
    steps.push_back(std::move(step));
  }
  if (replays.state != nullptr) state = uses.at(replays.state->state()).number;
}

std::vector<int> owners_of(const std::vector<Batch::Part>& parts) {
  std::vector<int> owners;
  for (const Batch::Part& part : parts)
    if (part.codelet != nullptr) owners.push_back(part.placement.owner);
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  return owners;
}

std::vector<ScheduleStep> schedule_steps(const Program& program, const std::vector<int>& owners) {
  std::vector<ScheduleStep> steps;
  for (const Program::Step& step : program.steps) {
    ScheduleStep planned;
    planned.device = static_cast<int>(std::find(owners.begin(), owners.end(), step.part.placement.owner) - owners.begin());
    planned.everywhere = step.part.placement.everywhere && owners.size() > 1;
    for (std::size_t i = 0; i < step.buffers.size(); ++i) {
      const Access::Mode mode = step.part.accesses[i].mode;
      planned.uses.push_back({step.buffers[i], mode != Access::Mode::out, mode != Access::Mode::in, step.part.accesses[i].apart});
    }
    steps.push_back(std::move(planned));
  }
  return steps;
}

void record_step(Call& part, const Program::Step& step, double begin_us, double end_us) {
  Event event = event_of(step.part);
  event.begin_us = begin_us;
  event.end_us = end_us;
  event.skipped = part.skipped();
  if (event.skipped) event.cost = {};
  Session::current().events().record(part.worker(), event);
}

Event event_of(const Batch::Part& part, int times) {
  const Cost cost{times * part.cost.flops, times * part.cost.bytes};
  return {part.codelet->name(), part.placement.block, 0, 0, cost, times == 0, false, part.counted ? times : 0, part.codelet->kind()};
}

ReplayLimit replay_limit(const Program& program, const Call& call) {
  if (program.state < 0) return {program.most_replays, nullptr, program.most_replays > 1};
  return {program.most_replays, &call.buffer<const GraphStatus>(program.state)->stop, true};
}

#ifdef QUARKSTAR_CUDA
void enqueue_step(const Batch::Part& part, Call& call) {
  if (!part.placement.everywhere) flush_sums(static_cast<CudaStream>(call.stream()));
  detail::run_guarded(*part.codelet, part.codelet->cuda(), call, part.placement);
}
#endif

namespace {

bool is_refresh(const Program::Step& step) {
  const Role role = step.part.placement.role;
  return role == Role::refresh || role == Role::refresh_step;
}

}  // namespace

std::size_t refresh_behind(const Program& program, std::size_t step) {
  const Program::Step& scalar = program.steps[step];
  if (scalar.part.placement.role != Role::step) return 0;
  const int state = scalar.buffers.front();
  const auto goes_by_state = [state](const Program::Step& s) {
    return is_refresh(s) && std::find(s.buffers.begin(), s.buffers.end(), state) != s.buffers.end();
  };
  const auto begin = program.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1;
  return static_cast<std::size_t>(std::find_if_not(begin, program.steps.end(), goes_by_state) - begin);
}

std::size_t whole_refresh_behind(const Program& program, std::size_t step) {
  const std::size_t count = refresh_behind(program, step), next = step + 1 + count;
  return next < program.steps.size() && is_refresh(program.steps[next]) ? 0 : count;
}

bool parts_timed_apart() { return Session::current().events().detail() == Events::Detail::parts; }

bool batches_are_sampled() { return Session::current().options().time_kernels || KernelMarks::wanted(); }

void submit_program(const Codelet& codelet, std::unique_ptr<Program> program) {
  const Placement& first = program->steps.front().part.placement;
  const AccessList accesses = program->accesses;
  const auto& steps = program->steps;
  const auto counted =
      static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const auto& step) { return step.part.counted; }));
  const bool urgent = std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.part.placement.urgent; });
  submit(codelet, program.get(), accesses, program->cost, {.owner = first.owner, .block = first.block, .urgent = urgent});
  program.release();  // the task owns it now
  Session::current().events().count_fused(counted);
}

std::unique_ptr<Program> take_program(Call& call) {
  call.record_parts();
  return std::unique_ptr<Program>(const_cast<Program*>(call.arguments<const Program*>()));
}

}  // namespace quarkstar::runtime
