#include "runtime/program.hpp"

#include <map>

#include "runtime/session.hpp"

namespace quarkstar::runtime {

Program::Program(const std::vector<Batch::Part>& parts) {
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
}

void record_step(Call& part, const Program::Step& step, double begin_us, double end_us) {
  Session::current().events().record(part.worker(), {step.part.codelet->name(), step.part.placement.block, begin_us, end_us,
                                                     part.skipped() ? Cost{} : step.part.cost, part.skipped()});
}

Event event_of(const Batch::Part& part) { return {part.codelet->name(), part.placement.block, 0, 0, part.cost, false}; }

bool parts_timed_apart() { return Session::current().events().detail() == Events::Detail::parts; }

bool batches_are_sampled() { return Session::current().options().time_kernels; }

void submit_program(const Codelet& codelet, std::unique_ptr<Program> program) {
  const Placement& first = program->steps.front().part.placement;
  const AccessList accesses = program->accesses;
  const std::size_t steps = program->steps.size();
  submit(codelet, program.get(), accesses, program->cost, {.owner = first.owner, .block = first.block});
  program.release();  // the task owns it now
  Session::current().events().count_fused(steps);
}

std::unique_ptr<Program> take_program(Call& call) {
  call.record_parts();
  return std::unique_ptr<Program>(const_cast<Program*>(call.arguments<const Program*>()));
}

}  // namespace quarkstar::runtime
