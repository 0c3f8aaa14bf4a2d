#include "runtime/simulate/gpu_program.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/simulate/simulate.hpp"

#include <algorithm>
#include <memory>

namespace quarkstar::runtime::simulate {

/// Steps in lanes, as on GPUs (runtime/simulate/lane_times.hpp): a kernel shares its device's bandwidth with the one
/// beside it, and what it writes into another device's memory crosses the link before it ends.
std::vector<Interval> times_of(const GpuProgram& work) {
  const Machine& machine = simulate::machine();
  std::vector<StepTime> needs;
  for (const ScheduledStep& scheduled : work.schedule.steps) {
    const Program::Step& step = work.program.steps[static_cast<std::size_t>(scheduled.step)];
    const double us = kernel_us(*step.part.codelet, step.part.cost, step.part.placement.owner, 1);
    StepTime need{machine.graph_us + machine.gpu.kernel_us, (us - machine.gpu.kernel_us) / machine.shared_batch};
    for (std::size_t i = 0; i < step.buffers.size(); ++i) {
      const auto buffer = static_cast<std::size_t>(step.buffers[i]);
      const int home = work.schedule.home[buffer];
      if (work.schedule.copied[buffer] || step.part.accesses[i].mode == Access::Mode::in || home == scheduled.device) continue;
      const Machine::Link link =
          machine.between(work.cuda_devices[static_cast<std::size_t>(scheduled.device)], work.cuda_devices[static_cast<std::size_t>(home)]);
      need.fixed += link.us + static_cast<double>(work.bytes[buffer]) / link.gbs * 1e-3;
    }
    needs.push_back(need);
  }
  return lane_times(work.schedule, needs, {machine.signal_us, machine.join_us});
}

namespace {

const GpuProgram& program_in(const void* arguments) { return **static_cast<const GpuProgram* const*>(arguments); }

double simulated_us(const void* arguments, int, int) {
  double last = 0;
  for (const Interval& interval : program_in(arguments).times) last = std::max(last, interval.end);
  return last;
}

/// Time during which at least one of the events ran: steps of two lanes run beside each other.
double busy_us(std::vector<Event> events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.begin_us < b.begin_us; });
  double busy = 0, end = events.empty() ? 0 : events.front().begin_us;
  for (const Event& event : events) {
    busy += std::max(0.0, event.end_us - std::max(end, event.begin_us));
    end = std::max(end, event.end_us);
  }
  return busy;
}

/// The task has ended: its steps become events of the GPU that ran them, as on GPUs.
void finish_simulated(const void* arguments, int, double begin_us, double) {
  const std::unique_ptr<const GpuProgram> work(&program_in(arguments));
  std::vector<std::vector<Event>> events(work->owners.size());
  for (std::size_t i = 0; i < work->times.size(); ++i) {
    const ScheduledStep& scheduled = work->schedule.steps[i];
    const Batch::Part& part = work->program.steps[static_cast<std::size_t>(scheduled.step)].part;
    if (scheduled.device > 0 && part.placement.everywhere) continue;
    Event event = event_of(part);
    event.begin_us = begin_us + work->times[i].begin;
    event.end_us = begin_us + work->times[i].end;
    event.side = scheduled.lane != scheduled.device * LaneSchedule::lanes_a_device;
    events[static_cast<std::size_t>(scheduled.device)].push_back(event);
  }
  for (std::size_t device = 0; device < events.size(); ++device)
    Session::current().events().record(work->owners[device], events[device], busy_us(events[device]));
}

}  // namespace

void describe_gpu_programs(const Codelet& codelet) { describe(codelet, {simulated_us, finish_simulated}); }

}  // namespace quarkstar::runtime::simulate
