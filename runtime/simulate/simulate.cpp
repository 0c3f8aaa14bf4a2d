#include "runtime/simulate/simulate.hpp"

#include "runtime/graph/program.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/task_record.hpp"
#include "runtime/simulate/early_copy.hpp"
#include "runtime/simulate/teams_at_work.hpp"
#include "runtime/system/error.hpp"

#include <starpu.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace quarkstar::runtime::simulate {
namespace {

std::optional<Machine> simulated;

std::map<const Codelet*, Composite>& composites() {
  static std::map<const Codelet*, Composite> all;
  return all;
}

const Composite* composite_of(const Codelet* codelet) {
  const auto at = composites().find(codelet);
  return at == composites().end() ? nullptr : &at->second;
}

bool refresh_due = false;

const Device& device_of(int worker) {
  const Worker& one = Session::current().worker(worker);
  return one.kind == Worker::Kind::cuda ? machine().gpu(one.device) : machine().cpu;
}

/// Of the kernels of a task, without what the runtime adds.
double kernels_us(detail::TaskRecord& record, int worker, int teams) {
  const Composite* composite = composite_of(record.codelet);
  return composite != nullptr ? composite->microseconds(record.arguments(), worker, teams)
                              : kernel_us(*record.codelet, record.cost, worker, teams);
}

/// What the runtime adds to the kernels of a task.
double overhead_us(starpu_task* task, int worker) {
  return device_of(worker).task_us + machine().handle_us * static_cast<double>(STARPU_TASK_GET_NBUFFERS(task));
}

bool spends_by_itself(int worker) { return machine().busy_teams_share && Session::current().worker(worker).kind == Worker::Kind::cpu; }

/// Since when a worker that spends by itself has run the kernels of its task.
double& kernels_begin_us(int worker) {
  static std::map<int, double> begin;
  return begin[worker];
}

/// Callback of every task; the worker calls it when the task's time is over.
void finish(void* argument) {
  auto* task = static_cast<starpu_task*>(argument);
  auto* record = static_cast<detail::TaskRecord*>(task->cl_arg);
  const int worker = starpu_worker_get_id_check();
  const double end = starpu_timing_now(),
               begin = spends_by_itself(worker) ? kernels_begin_us(worker) : end - kernels_us(*record, worker, teams_beside(worker));
  if (const Composite* composite = composite_of(record->codelet)) composite->finish(record->arguments(), worker, begin, end);
  else
    Session::current().events().record(
        worker, {record->codelet->name(), record->placement.block, begin, end, record->cost, false, false, 1, record->codelet->kind()});
}

}  // namespace

void use(Machine machine) { simulated = std::move(machine); }

const Machine& machine() {
  if (!simulated) throw Error(ErrorKind::internal, "simulation", "no machine was given", "start quarkstar-sim with --machine");
  return *simulated;
}

Topology topology() {
  const Machine& m = machine();
  std::vector<Domain> domains;
  for (int d = 0; d < m.nodes * m.domains; ++d) {
    Domain domain{d, static_cast<std::size_t>(m.cpu.memory_gib * 1073741824.0), {}};
    for (int core = 0; core < m.cores; ++core) domain.cores.push_back(d * m.cores + core);
    domains.push_back(std::move(domain));
  }
  return {std::move(domains), m.cpu.model + " (simulated)"};
}

std::vector<GpuDescription> gpus() {
  const Machine& m = machine();
  std::vector<GpuDescription> all;
  for (int g = 0; g < m.all_gpus(); ++g)
    all.push_back(
        {m.gpu(g).model + " (simulated)", static_cast<std::size_t>(m.gpu(g).memory_gib * 1073741824.0), "simulated:" + std::to_string(g)});
  return all;
}

void* allocate(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void deallocate(void* memory, std::size_t bytes) { munmap(memory, bytes); }

bool has_gpu_version(std::string_view codelet) {
  constexpr std::array cpu_only{
      "transfer.compact_links", "transfer.load",    "transfer.store", "gauge.load.part", "gauge.store.part", "gauge.deviation",
      "scalar.merge",           "scalar.interrupt", "scalar.end",     "block_cg.",       "self_test.",       "domain_wall.norms"};
  return std::none_of(cpu_only.begin(), cpu_only.end(), [&](std::string_view prefix) { return codelet.starts_with(prefix); });
}

void describe(const Codelet& codelet, Composite composite) { composites()[&codelet] = composite; }

int teams_beside(int worker) {
  const std::vector<Worker>& workers = Session::current().workers();
  const Worker& one = workers.at(static_cast<std::size_t>(worker));
  return static_cast<int>(std::count_if(workers.begin(), workers.end(),
                                        [&one](const Worker& other) { return other.kind == one.kind && other.device == one.device; }));
}

double kernel_us(const Codelet& codelet, const Cost& cost, int worker, int teams) {
  const Worker& one = Session::current().worker(worker);
  const bool is_team = one.kind == Worker::Kind::cpu;
  const int threads = one.team.threads();
  return device_of(worker).kernel_time_us(codelet.name(), cost.flops, cost.bytes,
                                          is_team ? machine().team_gbs(threads, teams) : one.bandwidth_gbs,
                                          is_team ? machine().team_part(threads) : 1);
}

void set_refresh_due(bool due) { refresh_due = due; }

Cost cost_of(Cost cost, const Placement& placement) {
  const bool refreshes = placement.role == Role::refresh || placement.role == Role::refresh_step;
  return refreshes && !refresh_due ? Cost{} : cost;
}

void pause(double microseconds) { starpu_sleep(static_cast<float>(microseconds * 1e-6)); }

double task_us(starpu_task* task, int worker) {
  return overhead_us(task, worker) + kernels_us(*static_cast<detail::TaskRecord*>(task->cl_arg), worker, teams_beside(worker));
}

namespace {

void pay_for_submission(double handles) { pause(machine().submit_us + machine().handle_us * handles); }

}  // namespace

void spend(starpu_task* task, int worker) {
  static std::map<int, TeamsAtWork> of_domain;
  TeamsAtWork& at_work = of_domain[Session::current().worker(worker).device];
  pause(overhead_us(task, worker));
  std::vector<double> us;
  for (int teams = 1; teams <= teams_beside(worker); ++teams)
    us.push_back(kernels_us(*static_cast<detail::TaskRecord*>(task->cl_arg), worker, teams));
  kernels_begin_us(worker) = starpu_timing_now();
  at_work.start(worker, std::move(us), kernels_begin_us(worker));
  for (double wait = at_work.wait_us(worker, kernels_begin_us(worker)); wait > 0; wait = at_work.wait_us(worker, starpu_timing_now()))
    pause(wait);
}

void prepare(starpu_task* task) {
  if (machine().busy_teams_share)
    task->cl->flags |= STARPU_CODELET_SIMGRID_EXECUTE;  // on CPUs: what StarPU enqueues on GPUs it goes on predicting
  task->callback_func = finish;
  task->callback_arg = task;
  pay_for_submission(static_cast<double>(STARPU_TASK_GET_NBUFFERS(task)));
}

void pay_for_early_copy() { pay_for_submission(1); }

namespace {

double step_us(const Program::Step& step, int worker, int teams) {
  return machine().graph_us + kernel_us(*step.part.codelet, step.part.cost, worker, teams);
}

}  // namespace

double program_us(const Program& program, int worker, int teams) {
  double sum = 0;
  for (const Program::Step& step : program.steps) sum += step_us(step, worker, teams);
  return sum;
}

void record_program(const Program& program, int worker, double begin_us, double end_us) {
  const int teams = teams_beside(worker);
  const double scale = (end_us - begin_us) / program_us(program, worker, teams);
  double begin = begin_us;
  for (const Program::Step& step : program.steps) {
    Event event = event_of(step.part);
    event.begin_us = begin;
    begin += scale * step_us(step, worker, teams);
    event.end_us = begin;
    Session::current().events().record(worker, event);
  }
}

}  // namespace quarkstar::runtime::simulate
