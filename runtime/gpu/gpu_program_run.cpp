#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/conditional_graph.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/gpu_flags.hpp"
#include "runtime/gpu/gpu_lanes.hpp"
#include "runtime/gpu/gpu_program.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/gpu/one_by_one.hpp"
#include "runtime/graph/graph_cache.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/observe/gpu_times.hpp"
#include "runtime/system/switch_variable.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace quarkstar::runtime {
namespace {

/// $QUARKSTAR_GPU_FLAGS=off: events between GPUs in graphs too.
bool flags_allowed() { return switch_in(gpu_flags_switch).value_or(true); }

/// A program that is about to run: streams of its lanes, buffers and call of each scheduled step.
class Run {
 public:
  Run(Call& call, const GpuProgram& work) : work_(work), worker_(call.worker()) {
    const LaneSchedule& schedule = work.schedule;
    for (std::size_t device = 0; device < work.cuda_devices.size(); ++device)
      for (int lane = 0; lane < LaneSchedule::lanes_a_device; ++lane)
        // StarPU watches the stream of the worker, so that is where the program begins and ends.
        streams_.push_back(device == 0 && lane == 0 ? static_cast<CudaStream>(call.stream())
                                                    : gpu_lanes().stream(work.cuda_devices[device], lane, device_count() > 1));
    pointers_.resize(schedule.steps.size());
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const ScheduledStep& scheduled = schedule.steps[i];
      for (const int buffer : step(scheduled).buffers) pointers_[i].push_back(memory(call, buffer, scheduled.device));
      calls_.push_back(Call(pointers_[i].data(), step(scheduled).part.arguments.data(), nullptr,
                            streams_[static_cast<std::size_t>(scheduled.lane)], worker_));
      if (step(scheduled).part.kind == Batch::Part::Kind::sum) calls_[i].set_exchange(&work.over_ranks);
    }
    for (int buffer = 0; buffer < static_cast<int>(schedule.copied.size()); ++buffer) {
      if (!schedule.copied[static_cast<std::size_t>(buffer)]) continue;
      for (int device = 1; device < device_count(); ++device)
        copies_.push_back({device, call.buffer<void>(buffer), memory(call, buffer, device), work.bytes[static_cast<std::size_t>(buffer)]});
    }
  }

  std::vector<std::byte> key() const {
    ProgramKey key;
    for (const MailboxUse& use : work_.mailboxes.uses)
      for (const auto* list : {&use.room, &use.arrival, &use.sent, &use.consumed}) key.append(list->data(), list->size() * sizeof(Mailbox));
    // Memory for flags and exchanges must be there before a capture, and a graph keeps their addresses.
    for (int device = 0; device < device_count() && device_count() > 1; ++device) {
      const GpuFlag* of_device[] = {flag(device, 0), epoch(device), exchange_words(device)};
      key.append(of_device, sizeof of_device);
    }
    key.append(work_.over_ranks.to, sizeof work_.over_ranks.to);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const ScheduledStep& scheduled = work_.schedule.steps[i];
      key.append(&scheduled.lane, sizeof scheduled.lane);
      key.append(step(scheduled).part, pointers_[i]);
    }
    return key.take();
  }

  /// Plainly, devices wait for each other by events; in a graph by flags, which are faster but need all work to be
  /// there: until the host has enqueued the rest, a watching kernel could keep it from allocating memory or loading
  /// kernels. steps: where marks go around each step; nullptr: nowhere.
  void enqueue(StepTimes* steps) {
    const LaneSchedule& schedule = work_.schedule;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream(0), &status);
    by_flags_ = device_count() > 1 && status == cudaStreamCaptureStatusActive && flags_allowed();
    ended_.assign(schedule.steps.size(), nullptr);
    begin(steps);
    if (by_flags_)
      for (int device = 0; device < device_count(); ++device) {
        use(main_lane(device));
        enqueue_epoch(epoch(device), stream(main_lane(device)));
      }
    fork();
    part_of_.assign(schedule.steps.size(), 0);
    behind_refresh_.assign(streams_.size(), false);
    parts_ = 0;
    std::size_t done = 0;
    for (std::size_t i = 0; i < schedule.steps.size(); i += done) {
      // Marks cannot be in a conditional part.
      const bool conditional = work_.leaves_out_refreshes && steps == nullptr;
      const std::size_t refresh = conditional ? whole_refresh_behind(work_.program, i) : 0;
      done = schedule.steps[i].meets.size() + 1 + refresh;
      if (refresh > 0) enqueue_with_refresh(i, refresh);
      else enqueue_together(i, done, steps);
    }
    for (int lane = 0; lane < lane_count(); ++lane) {
      use(lane);
      flush_sums(stream(lane));
      if (lane > 0) cudaStreamWaitEvent(stream(0), record(lane), 0);
    }
    use(0);
    check_launch("work of several GPUs");
  }

  void record_events(GpuTimes& times, int runs) const {
    for (const ScheduledStep& scheduled : work_.schedule.steps)
      if (const Event event = event_on_device(scheduled, runs); event.codelets > 0) times.add(owner(scheduled.device), event);
  }

 private:
  struct Copy {
    int device;
    const void* from;
    void* to;
    std::size_t bytes;
  };

  /// What a step does with its mailboxes; nullptr: nothing.
  const MailboxUse* mailboxes_of(const ScheduledStep& scheduled) const {
    return work_.mailboxes.uses.empty() ? nullptr : &work_.mailboxes.uses[static_cast<std::size_t>(scheduled.step)];
  }

  void enqueue_waits(std::size_t i) {
    const ScheduledStep& scheduled = work_.schedule.steps[i];
    const CudaStream lane = stream(scheduled.lane);
    const MailboxUse* mailboxes = mailboxes_of(scheduled);
    use(scheduled.lane);
    // Others may wait for these sums: they come before all waits but those of the scalar step that finishes them.
    if (!step(scheduled).part.placement.everywhere) flush_sums(lane);
    // There is room long before it is needed: that wait comes before the others.
    if (mailboxes != nullptr) enqueue_room(mailboxes->room, lane);
    GpuFlagList watched;
    for (const int before : scheduled.waits) {
      // Both lanes wait where a conditional part begins and where it ends.
      if (part_of_[static_cast<std::size_t>(before)] != part_of_[i]) continue;
      if (by_flags_ && work_.schedule.steps[static_cast<std::size_t>(before)].device != scheduled.device) {
        if (watched.count == most_gpu_flags) enqueue_wait(std::exchange(watched, {}), epoch(scheduled.device), lane);
        watched.flag[watched.count++] = flag(scheduled.device, before);
      } else {
        cudaStreamWaitEvent(lane, ended_[static_cast<std::size_t>(before)], 0);
      }
    }
    if (watched.count > 0) enqueue_wait(watched, epoch(scheduled.device), lane);
    if (mailboxes != nullptr) enqueue_arrival(mailboxes->arrival, lane);
  }

  /// A step; or one that exchanges, on all devices.
  void enqueue_together(std::size_t first, std::size_t count, StepTimes* steps) {
    const std::optional<OneByOne> one_by_one = after_refresh(first);
    const bool exchange = count > 1;
    for (std::size_t i = first; i < first + count; ++i) enqueue_waits(i);
    if (exchange && !by_flags_) meet();
    for (std::size_t i = first; i < first + count; ++i) {
      if (exchange && by_flags_) enqueue_exchange(i, steps);
      else enqueue_kernels(i, calls_[i], steps);
    }
    if (exchange && !by_flags_) meet();
    for (std::size_t i = first; i < first + count; ++i) tell_others(i);
  }

  /// A scalar step of a rank's only device, and the refresh behind it as a conditional part of the graph, which has
  /// both lanes. All ranks find a refresh due or none does, because their states are equal: so every message of the
  /// part has both its ends, and every exchange all ranks.
  void enqueue_with_refresh(std::size_t number, std::size_t refresh) {
    std::optional<OneByOne> one_by_one = after_refresh(number);
    enqueue_waits(number);
    // The schedule was made for such a part, so that nothing else can take its place.
    const std::unique_ptr<ConditionalGraph> conditional = ConditionalGraph::make(stream(0));
    if (conditional == nullptr) fail_as_defect("a conditional part of a graph outside a capture");
    Call scalar = calls_[number];
    scalar.set_refresh_condition(conditional->condition());
    enqueue_kernels(number, scalar, nullptr);
    tell_others(number);
    main_awaits_side();
    const std::vector<CudaStream> outside = std::exchange(streams_, conditional->begin(streams_.size()));
    side_awaits_main();
    one_by_one.emplace();
    ++parts_;
    for (std::size_t i = number + 1; i <= number + refresh; ++i) {
      const ScheduledStep& scheduled = work_.schedule.steps[i];
      part_of_[i] = parts_;
      enqueue_waits(i);
      Call inside(pointers_[i].data(), step(scheduled).part.arguments.data(), nullptr, stream(scheduled.lane), worker_);
      inside.set_exchange(calls_[i].exchange());
      enqueue_kernels(i, inside, nullptr);
      tell_others(i);
    }
    main_awaits_side();
    streams_ = outside;
    conditional->end();
    side_awaits_main();
    behind_refresh_.assign(streams_.size(), true);
  }

  /// Of the only device, with all that the lanes have been given.
  void main_awaits_side() {
    use(1);
    flush_sums(stream(1));
    const cudaEvent_t ended = record(1);
    use(0);
    flush_sums(stream(0));
    cudaStreamWaitEvent(stream(0), ended, 0);
  }
  void side_awaits_main() { cudaStreamWaitEvent(stream(1), record(0), 0); }

  /// For the first step behind a conditional part in its lane: kernels cannot be brought onto the GPU before that ends.
  std::optional<OneByOne> after_refresh(std::size_t i) {
    const auto lane = static_cast<std::size_t>(work_.schedule.steps[i].lane);
    if (!behind_refresh_[lane]) return std::nullopt;
    behind_refresh_[lane] = false;
    return std::optional<OneByOne>(std::in_place);
  }

  void enqueue_kernels(std::size_t i, Call& call, StepTimes* steps) {
    const ScheduledStep& scheduled = work_.schedule.steps[i];
    use(scheduled.lane);
    if (steps != nullptr) steps->begin_step(stream(scheduled.lane));
    enqueue_step(step(scheduled).part, call);
    if (steps != nullptr) steps->end_step(stream(scheduled.lane), owner(scheduled.device), event_on_device(scheduled));
  }

  /// A step that exchanges, on its own device's partial sums.
  void enqueue_exchange(std::size_t i, StepTimes* steps) {
    const ScheduledStep& scheduled = work_.schedule.steps[i];
    std::vector<void*> own = pointers_[i];
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto buffer = static_cast<std::size_t>(step(scheduled).buffers[k]);
      if (!work_.schedule.copied[buffer] && work_.schedule.home[buffer] != scheduled.device) own[k] = nullptr;
    }
    const SumExchange exchange = exchange_on(scheduled.device);
    Call call = calls_[i].part(own.data(), step(scheduled).part.arguments.data());
    call.set_exchange(&exchange);
    enqueue_kernels(i, call, steps);
  }

  void tell_others(std::size_t i) {
    const ScheduledStep& scheduled = work_.schedule.steps[i];
    const CudaStream lane = stream(scheduled.lane);
    const MailboxUse* mailboxes = mailboxes_of(scheduled);
    use(scheduled.lane);
    if (mailboxes != nullptr) enqueue_sent(mailboxes->sent, lane);
    if (!scheduled.awaited_on.empty()) flush_sums(lane);
    GpuFlagList set;
    bool awaited_by_event = false;
    for (const int device : scheduled.awaited_on) {
      if (by_flags_ && device != scheduled.device) {
        if (set.count == most_gpu_flags) enqueue_signal(std::exchange(set, {}), epoch(scheduled.device), lane);
        set.flag[set.count++] = flag(device, static_cast<int>(i));
      } else {
        awaited_by_event = true;
      }
    }
    if (set.count > 0) enqueue_signal(set, epoch(scheduled.device), lane);
    if (awaited_by_event) ended_[i] = record(scheduled.lane);
    if (mailboxes != nullptr) enqueue_consumed(mailboxes->consumed, lane);
  }

  /// By events: no main lane goes on before all have got here. Around a step that exchanges, in which every device then
  /// reads the others' partial sums itself.
  void meet() {
    std::vector<cudaEvent_t> here;
    for (int device = 0; device < device_count(); ++device) {
      use(main_lane(device));
      flush_sums(stream(main_lane(device)));
      here.push_back(record(main_lane(device)));
    }
    for (int device = 0; device < device_count(); ++device)
      for (int other = 0; other < device_count(); ++other)
        if (other != device) cudaStreamWaitEvent(stream(main_lane(device)), here[static_cast<std::size_t>(other)], 0);
  }

  /// Lanes start when the worker's stream gets here; then every device but the first copies the states.
  void begin(StepTimes* steps) {
    events_used_ = 0;
    const cudaEvent_t start = record(0);
    for (int lane = 1; lane < lane_count(); ++lane) cudaStreamWaitEvent(stream(lane), start, 0);
    for (const Copy& copy : copies_) {
      use(main_lane(copy.device));
      const CudaStream lane = stream(main_lane(copy.device));
      if (steps != nullptr) steps->begin_step(lane);
      cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDefault, lane);
      if (steps != nullptr)
        steps->end_step(lane, owner(copy.device), {"state.copy", -1, 0, 0, {0, static_cast<double>(copy.bytes)}, false, false, 0});
    }
  }
  /// What the main lanes have done so far comes before all that follows: side lanes use copies and epochs, and the
  /// first device may overwrite the states that the others have copied.
  void fork() {
    for (int device = 0; device < device_count(); ++device) {
      if (copies_.empty() && !by_flags_) return;
      const cudaEvent_t ready = record(main_lane(device));
      cudaStreamWaitEvent(stream(main_lane(device) + 1), ready, 0);
      if (device > 0) cudaStreamWaitEvent(stream(0), ready, 0);
    }
  }
  cudaEvent_t record(int lane) {
    use(lane);
    const cudaEvent_t event = gpu_lanes().event(device_of(lane), events_used_++);
    cudaEventRecord(event, stream(lane));
    return event;
  }
  void use(int lane) const {
    cudaSetDevice(device_of(lane));
    use_worker_memory_of_lane(lane % LaneSchedule::lanes_a_device);
  }
  GpuFlag* epoch(int device) const { return gpu_lanes().epoch(work_.cuda_devices, work_.cuda_devices[static_cast<std::size_t>(device)]); }
  /// In the memory of `device`: set when scheduled step `index` has ended.
  GpuFlag* flag(int device, int index) const {
    return gpu_lanes().flags(work_.cuda_devices, work_.cuda_devices[static_cast<std::size_t>(device)], work_.schedule.steps.size()) + index;
  }

  /// As far as its sizes go.
  SumExchange exchange_of_devices() const {
    SumExchange exchange{};
    exchange.devices = device_count();
    exchange.most_sums = detail::most_sums_on_cuda;
    return exchange;
  }
  SumExchange exchange_on(int device) const {
    SumExchange exchange = exchange_of_devices();
    exchange.self = device;
    exchange.patience_ns = gpu_patience_ns;
    exchange.from = exchange_words(device);
    exchange.count = exchange_words(device) + 2 * exchange.turn_words();
    for (int other = 0; other < device_count(); ++other)
      exchange.to[other] = exchange_words(other) + static_cast<std::size_t>(device) * exchange.place_words();
    return exchange;
  }
  /// In the memory of `device`: what it is sent in exchanges, then how many there were.
  GpuFlag* exchange_words(int device) const {
    return gpu_lanes().exchange_words(work_.cuda_devices, work_.cuda_devices[static_cast<std::size_t>(device)],
                                      2 * exchange_of_devices().turn_words() + 1);
  }

  /// A step that every device takes is work of the first.
  Event event_on_device(const ScheduledStep& scheduled, int runs = 1) const {
    Event event = event_of(step(scheduled).part, runs);
    event.side = scheduled.lane != main_lane(scheduled.device);
    if (scheduled.device > 0 && step(scheduled).part.placement.everywhere) event.codelets = 0;
    return event;
  }
  int owner(int device) const { return work_.owners[static_cast<std::size_t>(device)]; }
  const Program::Step& step(const ScheduledStep& scheduled) const { return work_.program.steps[static_cast<std::size_t>(scheduled.step)]; }
  int device_count() const { return static_cast<int>(work_.cuda_devices.size()); }
  static int main_lane(int device) { return device * LaneSchedule::lanes_a_device; }
  int lane_count() const { return static_cast<int>(streams_.size()); }
  CudaStream stream(int lane) const { return streams_[static_cast<std::size_t>(lane)]; }
  int device_of(int lane) const { return work_.cuda_devices[static_cast<std::size_t>(lane / LaneSchedule::lanes_a_device)]; }

  void* memory(Call& call, int buffer, int device) const {
    if (const std::vector<void*>& mailboxes = work_.mailboxes.memory; !mailboxes.empty())
      if (void* mailbox = mailboxes[static_cast<std::size_t>(buffer)]; mailbox != nullptr) return mailbox;
    const std::vector<bool>& copied = work_.schedule.copied;
    if (device == 0 || !copied[static_cast<std::size_t>(buffer)]) return call.buffer<void>(buffer);
    const auto number = static_cast<std::size_t>(std::count(copied.begin(), copied.begin() + buffer, true));
    return gpu_lanes().copy(work_.cuda_devices[static_cast<std::size_t>(device)], number, work_.bytes[static_cast<std::size_t>(buffer)]);
  }

  const GpuProgram& work_;
  int worker_;
  std::vector<CudaStream> streams_;
  std::vector<std::vector<void*>> pointers_;
  std::vector<Call> calls_;
  std::vector<Copy> copies_;
  std::size_t events_used_ = 0;
  bool by_flags_ = false;
  std::vector<cudaEvent_t> ended_;  ///< of the steps that are awaited by events
  std::vector<int> part_of_;        ///< the conditional part of the graph that a step is in, from 1 on; 0: none
  int parts_ = 0;
  std::vector<bool> behind_refresh_;  ///< lanes in which such a part is the latest
};

}  // namespace

void run_across_gpus(Call& call) {
  call.record_parts();
  const std::unique_ptr<GpuProgram> work(const_cast<GpuProgram*>(call.arguments<const GpuProgram*>()));
  Run run(call, *work);
  GpuTimes& times = *call.gpu_times();
  if (work->has_messages) prepare_worker_memory(LaneSchedule::lanes_a_device);
  const GraphRun done = run_through_graph(
      run.key(), static_cast<CudaStream>(call.stream()), [&run](StepTimes* steps) { run.enqueue(steps); }, batches_are_sampled(),
      work->has_messages, replay_limit(work->program, call));
  times.take(done.steps);
  if (batches_are_sampled() || done.times > 1) times.join_unmarked();
  run.record_events(times, done.times);
}

}  // namespace quarkstar::runtime
#endif
