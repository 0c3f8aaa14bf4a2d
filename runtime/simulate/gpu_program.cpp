#include "runtime/simulate/gpu_program.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/simulate.hpp"

#include <algorithm>
#include <memory>

namespace quarkstar::runtime::simulate {

namespace {

const Program::Step& step_of(const GpuProgram& work, const ScheduledStep& scheduled) {
  return work.program.steps[static_cast<std::size_t>(scheduled.step)];
}

StepTime kernel_of(const Program::Step& step) {
  const Machine& machine = simulate::machine();
  const double us = kernel_us(*step.part.codelet, step.part.cost, step.part.placement.owner, 1);
  const double kernel = machine.gpu(Session::current().worker(step.part.placement.owner).device).kernel_us;
  return {machine.graph_us + kernel, (us - kernel) / machine.shared_batch};
}

/// Whether each step belongs to a refresh that is not due: a part of the graph that runs on no rank, so that nothing is exchanged.
std::vector<bool> left_out_in(const Program& program) {
  std::vector<bool> out(program.steps.size());
  const auto refreshes = [&](std::size_t i) {
    return i < out.size() &&
           (program.steps[i].part.placement.role == Role::refresh || program.steps[i].part.placement.role == Role::refresh_step);
  };
  for (std::size_t begin = 0, end; begin < out.size(); begin = end + 1) {
    double bytes = 0;
    for (end = begin; refreshes(end); ++end) bytes += program.steps[end].part.cost.bytes;
    for (std::size_t i = begin; i < end; ++i) out[i] = !(bytes > 0);
  }
  return out;
}

RankFace face_of(const Mailbox& mailbox, int step, const Coord& ranks) {
  const FaceEnd& end = *static_cast<const FaceEnd*>(mailbox.data);
  return {step, end.mailbox, coordinates(end.peer, ranks), static_cast<double>(end.bytes)};  // from the first rank, which is this one
}

double length(const std::vector<Interval>& times) {
  double last = 0;
  for (const Interval& interval : times) last = std::max(last, interval.end);
  return last;
}

/// The steps of this rank, which stands for all (runtime/simulate/rank_times.hpp).
std::vector<Interval> times_on_ranks(const GpuProgram& work) {
  const RankNodes nodes = rank_nodes();
  const std::vector<bool> left_out = left_out_in(work.program);
  RankBatch batch{work.schedule, {}, {}, {}, {}};
  for (std::size_t i = 0; i < work.schedule.steps.size(); ++i) {
    const ScheduledStep& scheduled = work.schedule.steps[i];
    const Program::Step& step = step_of(work, scheduled);
    const bool out = left_out[static_cast<std::size_t>(scheduled.step)];
    batch.needs.push_back(kernel_of(step));
    batch.sums.push_back(step.part.kind == Batch::Part::Kind::sum && !out);
    if (out) continue;
    const MailboxUse& use = work.mailboxes.uses[static_cast<std::size_t>(scheduled.step)];
    for (const Mailbox& mailbox : use.sent) batch.sent.push_back(face_of(mailbox, static_cast<int>(i), nodes.ranks));
    for (const Mailbox& mailbox : use.arrival) batch.received.push_back(face_of(mailbox, static_cast<int>(i), nodes.ranks));
  }
  const auto times = [&](const Exchanges& exchanges) { return rank_times(batch, node_of_ranks(), nodes, exchanges); };
  const double kernels = length(times({false, false, false})), inside = length(times({true, false, false})),
               between = length(times({true, true, false}));
  std::vector<Interval> all = times({});
  count_batch({kernels, inside - kernels, between - inside, length(all) - between});
  return all;
}

}  // namespace

/// Steps in lanes, as on GPUs (runtime/simulate/lane_times.hpp): a kernel shares its device's bandwidth with the one
/// beside it, and what it writes into another device's memory crosses the link before it ends.
std::vector<Interval> times_of(const GpuProgram& work) {
  if (work.has_messages) return times_on_ranks(work);
  const Machine& machine = simulate::machine();
  std::vector<StepTime> needs;
  for (const ScheduledStep& scheduled : work.schedule.steps) {
    const Program::Step& step = step_of(work, scheduled);
    StepTime need = kernel_of(step);
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

double simulated_us(const void* arguments, int, int) { return length(program_in(arguments).times); }

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
