#include "runtime/graph/codelet.hpp"

#include <starpu.h>
#ifdef QUARKSTAR_CUDA
#include <starpu_cuda.h>
#endif

#include "runtime/gpu/failing_gpu.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/early_copy.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/task_record.hpp"
#include "runtime/observe/codelet_costs.hpp"
#include "runtime/observe/decisions.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/observe/gpu_times.hpp"
#include "runtime/observe/profiler_range.hpp"
#include "runtime/observe/task_graph.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/sanitizer.hpp"
#include "runtime/system/watchdog.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace quarkstar::runtime {
namespace {

constexpr int inline_buffers = 32;

/// Gathers the raw pointers of a task's buffers; more than inline_buffers go to the heap.
class BufferPointers {
 public:
  BufferPointers(void* descriptions[], int count) {
    if (count > inline_buffers) heap_.resize(static_cast<std::size_t>(count));
    void** pointers = data();
    for (int i = 0; i < count; ++i) pointers[i] = reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(descriptions[i]));
  }
  void** data() { return heap_.empty() ? inline_ : heap_.data(); }

 private:
  void* inline_[inline_buffers];
  std::vector<void*> heap_;
};

/// Tells ThreadSanitizer that a task begins or ends the use of its buffers that it declared.
void tell(void (*use)(const void*, bool), starpu_task* task, void* const* buffers) {
  if (!thread_sanitizer) return;
  const auto count = static_cast<int>(STARPU_TASK_GET_NBUFFERS(task));
  for (int i = 0; i < count; ++i) use(buffers[i], (STARPU_TASK_GET_MODE(task, i) & STARPU_W) != 0);
}

void run_on_cpu(starpu_task* task, void* descriptions[], detail::TaskRecord* record, int worker) {
  Session& session = Session::current();
  BufferPointers buffers(descriptions, STARPU_TASK_GET_NBUFFERS(task));
  Call call(buffers.data(), record->arguments(), &session.worker(worker).team, nullptr, worker);
  Watchdog::begins(worker, record->codelet->name());
  const double begin = starpu_timing_now();
  tell(begin_access, task, buffers.data());
  {
    const ProfilerRange range(record->codelet->name());
    detail::run_guarded(*record->codelet, record->codelet->cpu(), call, record->placement);
  }
  tell(end_access, task, buffers.data());
  Watchdog::ends(worker);
  if (!call.parts_recorded())
    session.events().record(worker, {record->codelet->name(), record->placement.block, begin, session.throttler().stretch(worker, begin),
                                     call.skipped() ? Cost{} : record->cost, call.skipped(), false, 1, record->codelet->kind()});
}

/// What StarPU calls. No exception may leave it: there is C behind it.
void cpu_function(void* descriptions[], void* argument) noexcept {
  starpu_task* task = starpu_task_get_current();
  happens_after(task);
  auto* record = static_cast<detail::TaskRecord*>(argument);
  const int worker = starpu_worker_get_id_check();
  Decisions::begins(record, worker);
  if constexpr (simulate::active) {
    simulate::spend(task, worker);
    return Decisions::ends(record);
  }
  try {
    run_on_cpu(task, descriptions, record, worker);
  } catch (...) {
    GraphFailure::note(*record->codelet, record->placement, worker);
  }
  Decisions::ends(record);
  happens_before(&Session::current());
}

#ifdef QUARKSTAR_CUDA
/// Enqueues the task's kernels; they end later, and then record_gpu_times runs.
void run_on_cuda(starpu_task* task, void* descriptions[], detail::TaskRecord* record, int worker) {
  BufferPointers buffers(descriptions, STARPU_TASK_GET_NBUFFERS(task));
  const auto stream = starpu_cuda_get_local_stream();
  if (Session::current().throttler().fails(worker)) enqueue_failure(stream);
  Watchdog::begins(worker, record->codelet->name());
  Call call(buffers.data(), record->arguments(), nullptr, stream, worker);
  const ProfilerRange range(record->codelet->name());
  record->gpu_times = new GpuTimes(stream, worker);
  call.set_gpu_times(record->gpu_times);
  detail::run_guarded(*record->codelet, record->codelet->cuda(), call, record->placement);
  flush_sums(stream);
  if (!call.parts_recorded())
    record->gpu_times->add({record->codelet->name(), record->placement.block, 0, 0, record->cost, false, false, 1, record->codelet->kind()},
                           false);
  record->gpu_times->end();
}

void cuda_function(void* descriptions[], void* argument) noexcept {
  auto* record = static_cast<detail::TaskRecord*>(argument);
  const int worker = starpu_worker_get_id_check();
  Decisions::begins(record, worker);
  try {
    run_on_cuda(starpu_task_get_current(), descriptions, record, worker);
  } catch (...) {
    GraphFailure::note(*record->codelet, record->placement, worker);
  }
}

/// Callback of tasks that may run on a GPU. The runtime calls it on the worker's thread, before it counts the task as done.
void record_gpu_times(void* argument) noexcept {
  auto* record = static_cast<detail::TaskRecord*>(argument);
  if (record->gpu_times == nullptr) return;  // it ran on a CPU
  try {
    if (!GraphFailure::happened()) record->gpu_times->record(Session::current().events(), record->codelet->name());
  } catch (...) {
    GraphFailure::note(*record->codelet, record->placement, starpu_worker_get_id_check());
  }
  delete std::exchange(record->gpu_times, nullptr);
  Decisions::ends(record);
  Watchdog::ends(starpu_worker_get_id_check());
}
#endif

/// Predicted duration in microseconds: as tasks of the codelet took there, or before there were any, compulsory bytes over the worker's
/// bandwidth. Needs no calibration run.
double predicted_us(starpu_task* task, unsigned worker, unsigned) {
  happens_after(task);
  if constexpr (simulate::active) return simulate::task_us(task, static_cast<int>(worker));
  const auto* record = static_cast<const detail::TaskRecord*>(task->cl_arg);
  if (const CodeletCosts* costs = CodeletCosts::of_session(); costs != nullptr)
    if (const double us = costs->predicted_us(static_cast<int>(worker), record->codelet->name(), record->cost.bytes); us > 0) return us;
  constexpr double launch_us = 5.0;
  return launch_us + record->cost.bytes / (Session::current().worker(static_cast<int>(worker)).bandwidth_gbs * 1e3);
}

}  // namespace

Codelet::Codelet(std::string name, CodeletKind kind, Implementation cpu, Implementation cuda)
    : name_(std::move(name)), kind_(kind), cpu_(cpu), cuda_(cuda), native_(new starpu_codelet) {
  starpu_codelet_init(native_);
  native_->name = name_.c_str();
  native_->cpu_funcs[0] = cpu_function;
#ifdef QUARKSTAR_CUDA
  if (cuda != nullptr) {
    native_->cuda_funcs[0] = cuda_function;
    native_->cuda_flags[0] = STARPU_CUDA_ASYNC;
  }
#endif
  if constexpr (simulate::active) {
    if (cuda != nullptr || simulate::has_gpu_version(name_)) {
      cuda_ = cpu_;  // known to be there; neither is called
      native_->cuda_funcs[0] = cpu_function;
      native_->cuda_flags[0] = STARPU_CUDA_ASYNC;
    }
  }
  native_->nbuffers = STARPU_VARIABLE_NBUFFERS;
  auto* model = new starpu_perfmodel();
  model->type = STARPU_PER_WORKER;
  model->worker_cost_function = predicted_us;
  model->symbol = name_.c_str();
  native_->model = model;
}

Codelet::~Codelet() {
  delete native_->model;
  delete native_;
}

bool only_on_gpus(const Codelet& codelet, const Placement& placement) {
  const Session& session = Session::current();
  return codelet.cuda() != nullptr && placement.owner < session.gpu_count() && !session.cpus_join();
}

void detail::submit(const Codelet& codelet, const void* arguments, std::size_t size, std::span<const Access> accesses, Cost cost,
                    Placement placement) {
  GraphFailure::throw_if_any();
  if constexpr (simulate::active) cost = simulate::cost_of(cost, placement);
  GraphRecording::note(codelet, cost, accesses, placement);
  if (Batch* batch = Batch::current(); batch != nullptr && !batch->tasks_wait()) {
    batch->add({.codelet = &codelet, .accesses = {accesses.begin(), accesses.end()}, .cost = cost, .placement = placement});
  } else if (batch != nullptr) {
    const auto* bytes = static_cast<const std::byte*>(arguments);
    batch->add({.codelet = &codelet,
                .arguments = {bytes, bytes + size},
                .accesses = {accesses.begin(), accesses.end()},
                .cost = cost,
                .placement = placement});
    return;
  }
  void* memory = std::malloc(sizeof(TaskRecord) + size);  // StarPU frees it with free()
  if (memory == nullptr) throw std::bad_alloc();
  auto* record = new (memory) TaskRecord{&codelet, cost, placement};
  std::memcpy(record->arguments(), arguments, size);

  starpu_task* task = starpu_task_create();
  task->cl = codelet.native();
  task->cl_arg = record;
  task->cl_arg_size = sizeof(TaskRecord) + size;
  task->cl_arg_free = 1;
  task->name = codelet.name();
  task->priority = placement.urgent ? starpu_sched_get_max_priority() : STARPU_DEFAULT_PRIO;
  task->flops = cost.flops;
  const Session& session = Session::current();
  const bool on_gpus = only_on_gpus(codelet, placement), one_can = on_gpus && session.gpu_count() == 1;
  if (on_gpus) task->where = STARPU_CUDA;
  const bool owner_can = placement.owner >= session.gpu_count() || codelet.cuda() != nullptr;
  if (owner_can && session.keeps_owners() && !keeps_owners(session.options().policy)) {
    task->execute_on_a_specific_worker = 1;
    task->workerid = static_cast<unsigned>(placement.owner);
  } else if (session.gpu_count() > 0 && (one_can || codelet.cuda() == nullptr) && steals(session.options().policy)) {
    task->execute_on_a_specific_worker = 1;
    const bool owner_is_cpu = placement.owner >= session.gpu_count() && placement.owner < static_cast<int>(session.workers().size());
    task->workerid = static_cast<unsigned>(one_can || owner_is_cpu ? placement.owner : session.gpu_count());
  }
#ifdef QUARKSTAR_CUDA
  if (codelet.cuda() != nullptr && session.gpu_count() > 0) {
    task->callback_func = record_gpu_times;
    task->callback_arg = record;
  }
#endif
  const auto count = static_cast<int>(accesses.size());
  task->nbuffers = count;
  if (count > STARPU_NMAXBUFS) {
    task->dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(accesses.size() * sizeof(starpu_data_handle_t)));
    task->dyn_modes = static_cast<starpu_data_access_mode*>(std::malloc(accesses.size() * sizeof(starpu_data_access_mode)));
    if (task->dyn_handles == nullptr || task->dyn_modes == nullptr) {
      task->destroy = 0;
      starpu_task_destroy(task);  // and what it has
      throw std::bad_alloc();
    }
  }
  for (int i = 0; i < count; ++i) {
    const Access& access = accesses[static_cast<std::size_t>(i)];
    const starpu_data_access_mode mode = access.mode == Access::Mode::in    ? STARPU_R
                                         : access.mode == Access::Mode::out ? STARPU_W
                                                                            : STARPU_RW;
    STARPU_TASK_SET_HANDLE(task, access.handle->state(), i);
    STARPU_TASK_SET_MODE(task, mode, i);
  }
  if constexpr (simulate::active) simulate::prepare(task);
  Session::current().events().count_submission(cost);
  happens_before(task);
  const int result = starpu_task_submit(task);
  if (result != 0) {
    task->destroy = 0;
    starpu_task_destroy(task);
    throw Error(ErrorKind::environment, codelet.name(), "no worker of this session can run the codelet", "give the session a CPU worker");
  }
  for (const Access& access : accesses)
    if (access.mode != Access::Mode::in) submit_early_copy(*access.handle);
}

}  // namespace quarkstar::runtime
